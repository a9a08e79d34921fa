#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/reduce.hpp"

#include "shim/openmpi/internals.hpp"

/// Open MPI keeps a table of functions for each predefined operation, with an entry for each kind of element. Here its
/// rows and columns are told in plait's terms.
namespace plait::shim::openmpi {

/// The entries of such a table: OMPI_OP_BASE_TYPE_INT8_T and so on.
inline constexpr std::size_t type_count = OMPI_OP_BASE_TYPE_MAX;

/// A predefined operation.
struct Operation {
  simd::ReduceOperation operation;
  std::size_t row;  ///< of Open MPI's own functions: OMPI_OP_BASE_FORTRAN_MAX and so on
};

/// \return  nothing for MPI_REPLACE and MPI_NO_OP, for which there are no functions, and for the operations of users
[[nodiscard]] std::optional<Operation> operation_of(MPI_Op op) noexcept;

/// \param type  an index into the tables
/// \return      nothing where plait has no such element: quadruple precision, complex long double, 128-bit integers
[[nodiscard]] std::optional<simd::Element> element_of(std::size_t type) noexcept;

}  // namespace plait::shim::openmpi
