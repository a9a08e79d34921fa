#pragma once

#include <memory>
#include <span>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/coffee/exchange.hpp"
#include "plait/sinkhorn/scaling/rows.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

namespace plait::sinkhorn {

/// How a matrix is scaled in place. The last three are COFFEE's Algorithms 1 to 3, for comparison, and for types that
/// are computed with as themselves.
///
/// Source: Sun et al., "COFFEE".
enum class InPlaceForm : unsigned char {
  fused,    ///< one read and one write: the next pass over the rows multiplies the columns
  typical,  ///< rows are summed up and multiplied, then each column is, down its elements
  by_rows,  ///< the columns, too, are summed up and multiplied row by row
  blocked,  ///< these two passes in blocks, by kernels of vectors of four rows
};

/// How Algorithm 3 cuts the matrix: mc × nc elements at a time.
struct Blocking {
  Index rows = 8;
  Index columns = 1000;
};

/// An iteration in which this rank's rows become those of the plan, of one problem. Columns may be given their sums a
/// few at a time, as these come from the other ranks. Local.
template <class A>
class InPlaceIteration {
 public:
  InPlaceIteration(std::span<const double> rows, std::span<const double> columns) : factors_(rows, columns) {}
  virtual ~InPlaceIteration() = default;

  /// Gives the rows their sums, and adds this rank's part of those of the columns.
  virtual void rows(std::span<A> sums) = 0;
  /// Gives all columns their sums.
  virtual void columns(std::span<const A> sums) = 0;

  /// In how many steps so many columns are given their sums; one at least.
  [[nodiscard]] virtual Index steps(Index columns) const = 0;
  /// One step of what `columns` does, for those from `first` on. Steps of the same columns are called in order, with
  /// the same sums; those of other columns may come in between.
  virtual void rescale(Index first, std::span<const A> sums, Index step) = 0;

  [[nodiscard]] Factors<A>& factors() noexcept { return factors_; }

 private:
  Factors<A> factors_;
};

/// \pre  the form is fused, or elements are computed with as they are; the marginals outlive what is returned
template <class T, class A>
[[nodiscard]] std::unique_ptr<InPlaceIteration<A>> in_place_iteration(InPlaceForm form, matrix_view<T> rows,
                                                                      std::span<const double> row_marginals,
                                                                      std::span<const double> column_marginals,
                                                                      Blocking blocking = {});

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

/// `scale`, but the matrix becomes the plan: K ← diag(u) K diag(v). What was rounded on the way stays so. How the sums
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
