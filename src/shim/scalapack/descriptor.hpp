#pragma once

#include <array>

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

/// \param i,j  as the routines are given them, counted from 1
[[nodiscard]] constexpr Submatrix submatrix(const Descriptor& d, int i, int j) noexcept {
  return {d.rows, d.columns, d.block_rows, d.block_columns, d.first_row, d.first_column, i - 1, j - 1};
}

}  // namespace plait::shim::scalapack
