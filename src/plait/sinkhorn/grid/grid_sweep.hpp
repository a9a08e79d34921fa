#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/exchange/exact_sum.hpp"
#include "plait/sinkhorn/grid/grid_check.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

/// What is known of an iteration when the sums of rows of the next one have come; the same on all ranks.
struct GridNews {
  double error = 0;              // relative to the sum of all marginals
  bool starved_columns = false;  // some have no factor
};

/// An iteration on a block of a grid. `find_rows`, then `scale_rows`, then `columns`, in turns. Collective over the
/// ranks of the grid's row and column.
template <class T, class A>
class GridSweep {
 public:
  GridSweep(mpi::Context& row, mpi::Context& column, const BlockPlace& place, matrix_view<const T> block,
            const CheckedMarginals& marginals, std::span<const A> start);

  /// Sums the rows up. Returns what came of the columns before; at first nothing.
  [[nodiscard]] GridNews find_rows();
  /// The news alone.
  [[nodiscard]] GridNews find_news();

  /// Gives the rows their sums, and sums the columns up: whether all rows have a factor.
  [[nodiscard]] bool scale_rows();

  /// Gives the columns their sums.
  void columns();

  [[nodiscard]] std::vector<A>& u() noexcept { return u_; }
  [[nodiscard]] const std::vector<A>& u() const noexcept { return u_; }
  [[nodiscard]] std::vector<A>& v() noexcept { return v_; }
  /// Those that `u` was found with.
  [[nodiscard]] std::vector<A>& v_before() noexcept { return v_before_; }

 private:
  [[nodiscard]] GridNews exchange_rows();

  matrix_view<const T> block_;
  std::span<const double> row_marginals_;
  std::span<const double> column_marginals_;  // of the block's
  double total_;
  ExactSum<A> exact_;
  SumOverRanks<A> over_row_;
  SumOverRanks<A> over_column_;
  std::vector<A> u_;
  std::vector<A> v_;
  std::vector<A> v_before_;
  std::vector<A> row_sums_;     // then the digits of the columns' distance, and whether any of them is starved
  std::vector<A> column_sums_;  // then whether any row is starved
  double distance_ = 0;         // of the block's columns
  bool has_starved_column_ = false;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
};

}  // namespace plait::sinkhorn
