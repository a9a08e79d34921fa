#include "shim/scalapack/matrix.hpp"

namespace plait::shim::scalapack {

bool reaches_out(int begin, int length, int extent) { return begin < 0 || Index{begin} + length > extent; }

std::string why_not(const Submatrix& a, int rows, int columns, int grid_rows, int grid_columns) {
  if (a.first_row == -1 || a.first_column == -1) return "a matrix replicated over its grid";
  const bool refused = rows < 0 || columns < 0 || a.block_rows < 1 || a.block_columns < 1 || a.first_row < 0 ||
                       a.first_column < 0 || a.first_row >= grid_rows || a.first_column >= grid_columns ||
                       reaches_out(a.row, rows, a.matrix_rows) || reaches_out(a.column, columns, a.matrix_columns);
  return refused ? refused_arguments : "";
}

int local_rows(const Descriptor& d, const GridInfo& grid) {
  return static_cast<int>(layout::Axis::cyclic(d.rows, d.block_rows, grid.rows, d.first_row).local_extent(grid.my_row));
}

bool leading_dimension_fits(const Descriptor& d, const GridInfo& grid) {
  return d.leading_dimension >= local_rows(d, grid);
}

bool pblas_leading_dimension_fits(const Descriptor& d, const GridInfo& grid) {
  if (d.leading_dimension < 1) return false;
  return leading_dimension_fits(d, grid) ||
         layout::Axis::cyclic(d.columns, d.block_columns, grid.columns, d.first_column).local_extent(grid.my_column) ==
             0;
}

}  // namespace plait::shim::scalapack
