#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/alike.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

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
/// float. The plan is as accurate as the sums in A allow; of a matrix that was rounded to bfloat16, with 8 significant
/// bits, each entry is off by up to 2^-8 of itself.
///
/// Where the marginals can't be had, the status says so, as soon as there is proof of it (see `feasibility`). Where
/// numbers left their range, factors may be 0, infinite or no numbers.
///
/// Collective over `context`.
///
/// \param start  factors of the columns to begin with, for all columns, such as those of a similar problem; empty:
///               ones
/// \throws ArgumentError  on all ranks: as `checked_marginals`, `check_matrix` and `expect_valid`; a matrix that is not
///                        row-major, a start of another length or with a factor that is not positive and finite
///
/// Source: Sinkhorn, Knopp, "Concerning nonnegative matrices and doubly stochastic matrices", 1967.
template <class T, class A>
[[nodiscard]] Scaling<A> scale(mpi::Context& context, matrix_view<const T> rows, const Marginals& marginals,
                               const Limits& limits = {}, std::span<const A> start = {});

/// Scales one matrix to several marginals: `scale` for each of them, but an iteration reads the matrix once for all,
/// and has one message for all, as have the checks before and the proofs after it. Each has a status of its own; those
/// that have come to their end cost nothing more. Of exp(-C / epsilon) the plans are those of transport between several
/// pairs of histograms.
///
/// Collective over `context`.
///
/// \param marginals  one element for each problem, of as many rows and columns as `scale` wants
/// \param limits     of each; the listener is told the iteration and the largest error of those that go on
/// \throws ArgumentError  on all ranks: as `scale`, naming the number of the marginals; numbers of problems that differ
///                        from rank to rank
template <class T, class A>
[[nodiscard]] std::vector<Scaling<A>> scale_batch(mpi::Context& context, matrix_view<const T> rows,
                                                  std::span<const Marginals> marginals, const Limits& limits = {});

/// `scale` of a sparse matrix: an iteration passes once through the entries of each row. T and A: double, float, float
/// as double.
///
/// Where the error falls slowly, it is decided once whether the marginals can be had at all: see `SparseSupport`. The
/// status is then no_support or infeasible_marginals; where there is support, but no total support, and the limit of
/// iterations is reached, the reason says which entry has to vanish.
///
/// Collective over `context`.
///
/// \throws ArgumentError  on all ranks: as `scale`
template <class T, class A>
[[nodiscard]] Scaling<A> scale(mpi::Context& context, const layout::SparseRows<T>& rows, const Marginals& marginals,
                               const Limits& limits = {}, std::span<const A> start = {});

/// For double and float.
///
/// \param what   a column has in it: its factor or potential
/// \param above  what these have to be above: 0 for factors, -infinity for potentials
/// \param arguments  get the start, which has to be the same on all ranks; empty: none is given
/// \throws ArgumentError  a start of another length than the columns' marginals; one that is not finite, or not above,
///                        of a column with mass
template <class A>
void expect_start(std::span<const A> start, std::span<const double> marginals, std::string_view what, A above,
                  mpi::Alike& arguments);

/// K(i, j) ← u[i] K(i, j) v[j]: the plan in the place of the matrix, by so many threads. Local.
///
/// \pre  rows is row-major; u has a factor for each of its rows, v for each column
template <class T, class A>
void plan_in_place(matrix_view<T> rows, std::span<const A> u, std::span<const A> v, int threads = 1);

/// The same of sparse rows.
template <class T, class A>
void plan_in_place(layout::SparseRows<T>& rows, std::span<const A> u, std::span<const A> v, int threads = 1);

/// What the marginals of a plan are off by: Σ |sum - marginal| / Σ marginals.
struct MarginalErrors {
  double rows = 0;
  double columns = 0;
  double mass = 0;  // the sum of the plan
};

/// What a plan sums up to, of which this rank has some rows, which may come one by one.
struct MarginalSums {
  explicit MarginalSums(const CheckedMarginals& of)  // which outlive it
      : marginals(&of), rows(of.rows.size()), columns(of.columns.size()) {}

  template <class T>
  void add(Index i, std::span<const T> row);
  /// After it, sums of columns are those of all ranks. Collective over `context`.
  [[nodiscard]] MarginalErrors errors(mpi::Context& context);

  const CheckedMarginals* marginals;
  std::vector<double> rows;     // of this rank
  std::vector<double> columns;  // of these rows
};

/// Of several plans of one shape, by as many messages as of one. Collective over `context`.
[[nodiscard]] std::vector<MarginalErrors> errors_of(mpi::Context& context, std::span<MarginalSums> plans);

/// Sums this rank's rows of a plan up, in double, whatever it was computed with. Collective over `context`.
template <class T>
[[nodiscard]] MarginalSums marginal_sums(mpi::Context& context, matrix_view<const T> plan,
                                         const CheckedMarginals& marginals);

/// The same of a sparse plan.
template <class T>
[[nodiscard]] MarginalSums marginal_sums(mpi::Context& context, const layout::SparseRows<T>& plan,
                                         const CheckedMarginals& marginals);

/// Of the plan of each of these scalings: the matrix is read once, and there are as many messages as for one.
/// Collective over `context`.
template <class T, class A>
[[nodiscard]] std::vector<MarginalErrors> marginal_errors(mpi::Context& context, matrix_view<const T> rows,
                                                          std::span<const Scaling<A>> scalings,
                                                          std::span<const CheckedMarginals> marginals);

}  // namespace plait::sinkhorn
