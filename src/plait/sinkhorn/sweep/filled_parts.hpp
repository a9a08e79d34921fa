#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"

namespace plait::sinkhorn {

/// Columns of a group of rows that are not all 0 there.
struct ColumnRun {
  Index first = 0;
  Index count = 0;
};

/// Where a matrix has entries that are not 0, in blocks of some rows and columns, so that blocks of zeros are read once
/// and never again. Finding them reads of the other blocks only what comes before their first entry.
class FilledParts {
 public:
  static constexpr Index rows_at_a_time = 8;
  static constexpr Index columns_at_a_time = 64;

  /// \pre  rows is row-major
  template <class T>
  explicit FilledParts(matrix_view<const T> rows);

  /// Whether so much is 0 that going from block to block is quicker than reading all.
  [[nodiscard]] bool are_few() const noexcept { return 4 * filled_ < 3 * all_; }
  /// Elements in blocks that are not 0.
  [[nodiscard]] Index elements() const noexcept { return filled_; }

  /// Of rows from group * rows_at_a_time on.
  [[nodiscard]] std::span<const ColumnRun> runs(Index group) const {
    const auto first = static_cast<std::size_t>(starts_[static_cast<std::size_t>(group)]);
    return std::span(runs_).subspan(first,
                                    static_cast<std::size_t>(starts_[static_cast<std::size_t>(group) + 1]) - first);
  }

 private:
  std::vector<Index> starts_;  // of each group, and the end
  std::vector<ColumnRun> runs_;
  Index filled_ = 0;
  Index all_ = 0;
};

/// Some columns of a group of rows.
template <class T>
[[nodiscard]] simd::RowBlock<const T> filled_block(matrix_view<const T> rows, Index first, Index count,
                                                   const ColumnRun& run) {
  return {rows.data() + first * rows.leading_dimension() + run.first, count, run.count, rows.leading_dimension()};
}

/// y[i] = Σ_j K(i, j) x[j], of which only the parts that are filled are read.
template <class T, class A>
void filled_row_sums(const simd::ScalingKernels<T, A>& kernels, matrix_view<const T> rows, const FilledParts& filled,
                     const A* x, A* y) {
  std::array<A, FilledParts::rows_at_a_time> parts{};
  for (Index first = 0, group = 0; first < rows.rows(); first += FilledParts::rows_at_a_time, ++group) {
    const Index count = std::min(FilledParts::rows_at_a_time, rows.rows() - first);
    std::fill_n(y + first, count, A{0});
    for (const ColumnRun& run : filled.runs(group)) {
      kernels.row_sums(filled_block(rows, first, count, run), x + run.first, parts.data(), {});
      for (Index i = 0; i < count; ++i) y[first + i] += parts[static_cast<std::size_t>(i)];
    }
  }
}

}  // namespace plait::sinkhorn
