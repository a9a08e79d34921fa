#pragma once

#include <algorithm>

#include "plait/base/index.hpp"
#include "plait/layout/shape.hpp"

namespace plait::redistribute {

/// The elements (i, j) of a matrix on one side of a diagonal and on it: i - j <= diagonal where that is the upper side,
/// i - j >= diagonal where it is the lower one.
struct Trapezoid {
  enum class Side : unsigned char { upper, lower };

  Side side = Side::upper;
  Index diagonal = 0;

  /// Of rows [begin, end), those of column j: from the first to one past the last.
  struct Rows {
    Index begin;
    Index end;
  };
  [[nodiscard]] constexpr Rows rows_of(Index column, Index begin, Index end) const noexcept {
    const Index at = column + diagonal;
    return side == Side::upper ? Rows{begin, std::clamp(at + 1, begin, end)} : Rows{std::clamp(at, begin, end), end};
  }

  /// Where these elements are in the transpose.
  [[nodiscard]] constexpr Trapezoid transposed() const noexcept {
    return {side == Side::upper ? Side::lower : Side::upper, -diagonal};
  }

  /// How many elements of such a matrix are in it, in closed form.
  [[nodiscard]] constexpr Index elements(layout::Shape shape) const noexcept {
    const auto [rows, columns] = shape;
    if (side == Side::lower) return rows * columns - Trapezoid{Side::upper, diagonal - 1}.elements(shape);
    // Column j has j + diagonal + 1 of them: none before `first`, all rows from `full` on.
    const Index first = std::clamp(-diagonal, Index{0}, columns);
    const Index full = std::clamp(rows - 1 - diagonal, first, columns);
    const Index rising = full - first;
    return rising * (first + diagonal) + rising * (rising + 1) / 2 + (columns - full) * rows;
  }

  friend bool operator==(const Trapezoid&, const Trapezoid&) = default;
};

}  // namespace plait::redistribute
