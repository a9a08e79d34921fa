#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/course/status.hpp"
#include "plait/sinkhorn/exchange/column_exchange.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// The factors of the plan: P(i, j) = u[i] K(i, j) v[j].
template <class A>
struct Scaling {
  Outcome outcome;
  std::vector<A> u;  // of this rank's rows
  std::vector<A> v;  // of all columns; the same on all ranks
};

/// Finds the diagonal matrices with which  diag(u) K diag(v)  has the marginals: Sinkhorn and Knopp's iteration.
///
///     u[i] = r[i] / Σ_j K(i, j) v[j]        v[j] = c[j] / Σ_i u[i] K(i, j)
///
/// Every rank gives some rows of K, in row-major order, rank 0 the first ones; any number of them, also none. The
/// matrix is read once an iteration and never written. An iteration has one message: the sums of all columns, with what
/// decides how it goes on. Elements T are computed with as numbers A: double, float, float as double, and bfloat16 as
/// float. The plan is as accurate as the sums in A allow; of a matrix that was rounded to bfloat16 the entries are off
/// by 2^-9.
///
/// Where the marginals can't be had, the status says so, as soon as there is proof of it (see `feasibility`). Where
/// numbers left their range, factors may be 0, infinite or no numbers.
///
/// Collective over `context`.
///
/// \param start   factors of the columns to begin with, for all columns, such as those of a similar problem; empty:
///                ones
/// \param update  how far factors go. With exponents below 1 sums need not be those of the marginals, nor do these have
///                one total; the error is what sums are off by of those that belong to the factors. With
///                over-relaxation it is that of rows and columns, as neither have just their sums
/// \throws ArgumentError  on all ranks: as `checked_marginals` (with exponents below 1 `checked_masses`),
///                        `check_matrix` and `expect_valid`; a matrix that is not row-major, a start of another length
///                        or with a factor that is not positive and finite
///
/// Sources: Sinkhorn, Knopp, "Concerning nonnegative matrices and doubly stochastic matrices", 1967; Sun et al.,
/// "COFFEE", whose Algorithms 1 to 3 are here as forms that work in place.
template <class T, class A>
[[nodiscard]] Scaling<A> scale(mpi::Context& context, matrix_view<const T> rows, const Marginals& marginals,
                               const Limits& limits = {}, std::span<const A> start = {}, const Update& update = {});

/// How a matrix is scaled in place. The last three are for comparison, and for types that are computed with as
/// themselves.
enum class InPlaceForm : unsigned char { fused, typical, by_rows, blocked };

/// What goes on while the sums of columns come from the other ranks: columns whose sums have come are rescaled, or
/// nothing is. The fused form has nothing to do then, as the next iteration's pass rescales.
enum class Meanwhile : unsigned char { wait, rescale };

/// Who holds the rows of a node's first rank: that one, or the others of the node; see `DealtRows`.
enum class LeaderRows : unsigned char { kept, dealt };

/// How columns get their sums from all ranks. All but the first are for comparison, as is what they go with.
struct ColumnExchange {
  SumWay way = SumWay::chosen;
  Meanwhile meanwhile = Meanwhile::wait;
  LeaderRows leader_rows = LeaderRows::kept;
};

/// The same, but the matrix becomes the plan: K ← diag(u) K diag(v). What was rounded on the way stays so. How the sums
/// are exchanged changes nothing but the order of additions, nor does what goes on meanwhile.
///
/// \throws ArgumentError  also, on all ranks: a form that computes with elements as they are, on others than double and
///                        float; blocks of less than 1 x 1; a fused form that is to rescale meanwhile, or whose rows
///                        are to be dealt; rescaling while MPI's own allreduce is under way
///
/// Source: COFFEE, section V, for all that `exchange` tells.
template <class T, class A>
[[nodiscard]] Scaling<A> scale_in_place(mpi::Context& context, matrix_view<T> rows, const Marginals& marginals,
                                        InPlaceForm form = InPlaceForm::fused, const Limits& limits = {},
                                        Blocking blocking = {}, ColumnExchange exchange = {});

}  // namespace plait::sinkhorn
