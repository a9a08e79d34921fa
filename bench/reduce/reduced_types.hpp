#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::bench {

/// A predefined type of MPI, and what its elements are.
struct ReducedType {
  std::string name;  // such as MPI_LONG
  MPI_Datatype type;
  simd::Element element;
  bool logical_operations = true;  // whether MPI defines them on it, if it does so on the element

  [[nodiscard]] bool allows(simd::ReduceOperation operation) const;
};

/// Those that differ in what they are or in how an MPI library serves them: the C types of every size, MPI_LONG, the
/// default Fortran types, and the pairs. Not those that Open MPI or MPICH lacks.
[[nodiscard]] std::vector<ReducedType> reduced_types();

/// What MPI calls the operation.
[[nodiscard]] MPI_Op mpi_operation(simd::ReduceOperation operation);

}  // namespace plait::bench
