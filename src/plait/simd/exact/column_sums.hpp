#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/simd/exact/exact_sum.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::simd {

/// Which bits the numbers of a column have: of the last one in any of them, and of the first one. None where all are 0.
struct BitRange {
  Index last = 2000;
  Index first = -2000;

  [[nodiscard]] bool is_empty() const noexcept { return last > first; }
};

/// Exact sums of columns, for many groups of rows that come and go. What the numbers of a
/// column can be is known, so a sum is a few digits of 32 bits instead of all that an `ExactSum` has, and digits of
/// several columns are added at a time. Word by word, as integers, the sums of several ranks add up to those of all.
///
/// Extraction of digits by adding and subtracting large numbers: Demmel, Nguyen, "Fast reproducible floating-point
/// summation", ARITH 21 (2013).
class ColumnWindow {
 public:
  /// \param rows  how many there are in all, on all ranks
  /// \pre  -1074 <= last, first <= 900
  ColumnWindow(std::span<const BitRange> columns, Index rows);

  [[nodiscard]] Index columns() const noexcept { return static_cast<Index>(lowest_digit_.size()); }
  /// Digits of one sum, and how many numbers lie between digits of the same column: the words of a group of rows are
  /// `words() * pitch()`, digit by digit.
  [[nodiscard]] Index words() const noexcept { return words_; }
  [[nodiscard]] Index pitch() const noexcept { return pitch_; }
  [[nodiscard]] Index words_of_group() const noexcept { return words_ * pitch_; }
  [[nodiscard]] const double* anchors() const noexcept { return anchors_.data(); }
  /// After so many rows in one group its digits have to be carried.
  static constexpr Index rows_between_carries = Index{1} << 29;

  /// Brings all digits of a group but the highest into [0, 2^32).
  void carry(std::int64_t* group) const;
  /// The sum of a column of a group.
  [[nodiscard]] ExactSum sum(const std::int64_t* group, Index column) const;
  /// The same, rounded to nearest, ties to even.
  [[nodiscard]] double rounded(const std::int64_t* group, Index column) const;

 private:
  std::vector<Index> lowest_digit_;  // of a column, as ExactSum counts them
  std::vector<double> anchors_;      // 1.5 · 2^52 times the unit of each digit
  Index words_ = 1;
  Index pitch_ = 0;
};

/// Adds row rows[i] of x to group to[i], for 0 <= i < count, and takes it out of group from[i] unless `from` is null.
template <class T>
using ColumnSumKernel = void(const ColumnWindow& window, RowBlock<const T> x, const Index* rows,
                             const std::int32_t* from, const std::int32_t* to, Index count, std::int64_t* sums);

/// For double and float.
/// \pre  is_supported(isa)
template <class T>
[[nodiscard]] ColumnSumKernel<T>* column_sum_kernel(Isa isa = selected_isa());

}  // namespace plait::simd
