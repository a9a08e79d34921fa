#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

/// Columns of a group of rows that are not all 0 there.
struct ColumnRun {
  Index first = 0;
  Index count = 0;
};

template <class T>
[[nodiscard]] bool has_entry(const T* row, Index columns) {
  unsigned any = 0;
  for (Index j = 0; j < columns; ++j) any |= static_cast<unsigned>(simd::widened<simd::FloatOf<T>>(row[j]) != 0);
  return any != 0;
}

template <class T>
[[nodiscard]] bool is_filled(matrix_view<const T> rows, Index row, Index column, Index count, Index columns) {
  const T* from = rows.data() + row * rows.leading_dimension() + column;
  constexpr Index glance = 8;  // most blocks that are filled are so from the beginning
  if (has_entry(from, std::min(glance, columns))) return true;
  for (Index i = 0; i < count; ++i) {
    if (has_entry(from + i * rows.leading_dimension(), columns)) return true;
  }
  return false;
}

/// Where a matrix has entries that are not 0, in blocks of some rows and columns, so that blocks of zeros are read once
/// and never again. Finding them reads of the other blocks only what comes before their first entry.
class FilledParts {
 public:
  static constexpr Index rows_at_a_time = 8;
  static constexpr Index columns_at_a_time = 64;

  /// \pre  rows is row-major
  template <class T>
  explicit FilledParts(matrix_view<const T> rows) : starts_{0}, all_(rows.rows() * rows.columns()) {
    for (Index row = 0; row < rows.rows(); row += rows_at_a_time) {
      const Index count = std::min(rows_at_a_time, rows.rows() - row);
      bool goes_on = false;
      for (Index column = 0; column < rows.columns(); column += columns_at_a_time) {
        const Index columns = std::min(columns_at_a_time, rows.columns() - column);
        if (!is_filled(rows, row, column, count, columns)) {
          goes_on = false;
          continue;
        }
        if (!goes_on) runs_.push_back({column, 0});
        goes_on = true;
        runs_.back().count += columns;
        filled_ += count * columns;
      }
      starts_.push_back(static_cast<Index>(runs_.size()));
    }
  }

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

}  // namespace plait::sinkhorn
