#pragma once

#include <string>

#include "shim/scalapack/blacs.hpp"
#include "shim/scalapack/descriptor.hpp"

/// What this library takes of a routine's arguments. All else goes to the real routine, which knows how to complain.
namespace plait::shim::scalapack {

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
