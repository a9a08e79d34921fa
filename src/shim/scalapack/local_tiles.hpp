#pragma once

#include <algorithm>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/layout/axis.hpp"
#include "plait/layout/layout.hpp"

#include "shim/scalapack/descriptor.hpp"
#include "shim/scalapack/process_map.hpp"

namespace plait::shim::scalapack {

/// How the rows (columns) of a submatrix are dealt to the rows (columns) of its grid.
[[nodiscard]] inline layout::Axis row_axis(const Submatrix& a, int rows, int grid_rows) {
  return layout::Axis::cyclic(a.matrix_rows, a.block_rows, grid_rows, a.first_row).sub(a.row, Index{a.row} + rows);
}
[[nodiscard]] inline layout::Axis column_axis(const Submatrix& a, int columns, int grid_columns) {
  return layout::Axis::cyclic(a.matrix_columns, a.block_columns, grid_columns, a.first_column)
      .sub(a.column, Index{a.column} + columns);
}

[[nodiscard]] inline layout::Layout layout_of(const Submatrix& a, int rows, int columns, const ProcessMap& map) {
  return {row_axis(a, rows, map.rows), column_axis(a, columns, map.columns), map.owners(), StorageOrder::column_major};
}

/// The part of a process's array, which holds its part of the whole matrix, that belongs to the submatrix.
template <class T>
[[nodiscard]] matrix_view<T> local_part(const layout::Axis& rows, Index part_row, const layout::Axis& columns,
                                        Index part_column, T* array, int leading_dimension) {
  const Index local_rows = rows.local_extent(part_row);
  const Index local_columns = columns.local_extent(part_column);
  if (local_rows == 0 || local_columns == 0) {
    return {nullptr, local_rows, local_columns, std::max(Index{1}, local_rows)};  // the array may be anything then
  }
  const Index offset = rows.skipped_before(part_row) + columns.skipped_before(part_column) * leading_dimension;
  return {array + offset, local_rows, local_columns, leading_dimension};
}

/// The same for a rank of a submatrix's layout: no tile for ranks that are not in its grid.
template <class T>
[[nodiscard]] std::vector<matrix_view<T>> local_tiles(const layout::Layout& layout, int rank, T* array,
                                                      int leading_dimension) {
  std::vector<matrix_view<T>> tiles;
  for (const layout::TilePosition position : layout.owners().owned_by(rank)) {
    tiles.push_back(
        local_part(layout.rows(), position.row, layout.columns(), position.column, array, leading_dimension));
  }
  return tiles;
}

}  // namespace plait::shim::scalapack
