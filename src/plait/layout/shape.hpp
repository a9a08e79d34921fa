#pragma once

#include <string>

#include "plait/base/index.hpp"

namespace plait::layout {

/// The extents of a matrix.
struct Shape {
  Index rows = 0;
  Index columns = 0;

  [[nodiscard]] constexpr Shape transposed() const noexcept { return {columns, rows}; }
  [[nodiscard]] constexpr bool empty() const noexcept { return rows == 0 || columns == 0; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// "100 x 50"
[[nodiscard]] std::string to_string(Shape shape);

/// rows · columns.
///
/// \pre  rows >= 0 and columns >= 0
/// \throws LayoutError  if the number does not fit an Index
[[nodiscard]] Index elements(Shape shape);

}  // namespace plait::layout
