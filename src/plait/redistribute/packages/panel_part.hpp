#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/packages/packages.hpp"
#include "plait/redistribute/trapezoid.hpp"

namespace plait::redistribute {

/// Rows [row, row + rows) by columns [column, column + columns) of a panel, in its packed coordinates (its runs one
/// behind the other).
struct PackedRectangle {
  Index row = 0, rows = 0;
  Index column = 0, columns = 0;
};

/// The elements of a panel that lie within a trapezoid of the target, as disjoint rectangles: all of the panel far on
/// one side of the diagonal, nothing far on the other. Along the diagonal they halve, down to parts of single rows or
/// columns. Their number is at most the panel's rows, and its columns.
///
/// A panel's packed rows and columns both go up in the matrix, so that what it has of the trapezoid is a staircase, and
/// where a step begins is told by the axes: the cost is that of the rectangles, times the logarithm of the panel's
/// extents.
///
/// The same at both ends of a package, in the same order.
[[nodiscard]] std::vector<PackedRectangle> rectangles_within(const Trapezoid& part, const Panel& panel,
                                                             const layout::Layout& target);

}  // namespace plait::redistribute
