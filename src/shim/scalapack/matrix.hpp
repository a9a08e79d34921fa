#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/layout/axis.hpp"
#include "plait/layout/layout.hpp"

#include "shim/scalapack/blacs.hpp"

/// Distributed matrices as ScaLAPACK describes them, and what this library takes of them: all else goes to the real
/// routine, which knows how to complain.
namespace plait::shim::scalapack {

/// ScaLAPACK's description of a distributed matrix: nine integers.
struct Descriptor {
  int type;
  int context;  ///< the BLACS grid; -1 where this process is not in it, and all else may be anything then
  int rows;
  int columns;
  int block_rows;
  int block_columns;
  int first_row;     ///< RSRC, the grid row that holds the first row
  int first_column;  ///< CSRC
  int leading_dimension;

  static constexpr int block_cyclic = 1;  ///< the type with nine entries
};

[[nodiscard]] constexpr Descriptor descriptor(const int* entries) noexcept {
  return {entries[0], entries[1], entries[2], entries[3], entries[4], entries[5], entries[6], entries[7], entries[8]};
}

/// The first `rows` x `columns` elements from (row, column) on, counted from 0, of a described matrix: what the
/// routines work on, and all of it that the processes of its grid have in common.
struct Submatrix {
  int matrix_rows;
  int matrix_columns;
  int block_rows;
  int block_columns;
  int first_row;
  int first_column;
  int row;
  int column;

  [[nodiscard]] constexpr std::array<int, 8> numbers() const noexcept {
    return {matrix_rows, matrix_columns, block_rows, block_columns, first_row, first_column, row, column};
  }
  friend bool operator==(const Submatrix&, const Submatrix&) = default;
};

/// A submatrix as the routines are given it.
/// \tparam T  of its elements, or void
template <class T>
struct Given {
  T* array;  ///< this process's, of the whole matrix
  int i, j;  ///< of the first element, counted from 1
  const int* desc;
};

/// \param i,j  as the routines are given them, counted from 1
[[nodiscard]] constexpr Submatrix submatrix(const Descriptor& d, int i, int j) noexcept {
  return {d.rows, d.columns, d.block_rows, d.block_columns, d.first_row, d.first_column, i - 1, j - 1};
}

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

inline constexpr const char* refused_arguments = "arguments that ScaLAPACK refuses";
inline constexpr const char* other_type = "a descriptor of another type than 1";

/// Whether a part of that many rows (columns), from `begin` on, counted from 0, is not within the matrix.
[[nodiscard]] bool reaches_out(int begin, int length, int extent);

/// Why a matrix that all processes of its grid know alike can't be served, or "": the submatrix lies in the matrix, the
/// blocks are at least 1 x 1, and the matrix begins in the grid. A leading dimension is each process's own affair.
[[nodiscard]] std::string why_not(const Submatrix& a, int rows, int columns, int grid_rows, int grid_columns);

/// Rows of the matrix that this process holds.
/// \pre  why_not(submatrix of d) is ""
[[nodiscard]] int local_rows(const Descriptor& d, const GridInfo& grid);

/// Whether the leading dimension holds a column of this process's part.
[[nodiscard]] bool leading_dimension_fits(const Descriptor& d, const GridInfo& grid);

/// As PBLAS has it, where less will do on a process without columns.
[[nodiscard]] bool pblas_leading_dimension_fits(const Descriptor& d, const GridInfo& grid);

}  // namespace plait::shim::scalapack
