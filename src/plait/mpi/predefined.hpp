#pragma once

#include <mpi.h>

#include <optional>

#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::mpi {

/// What one of MPI's operations does to elements of one of its types.
struct PredefinedReduction {
  simd::ReduceOperation operation;
  simd::Element element;

  friend bool operator==(const PredefinedReduction&, const PredefinedReduction&) = default;
};

/// The reduction by a predefined operation of a predefined type of C, C++ or Fortran, where the MPI standard defines
/// the one on the other (MPI 4.0, section 6.9.2), or MPICH does, which takes all integers for logical values, and
/// `simd::reduce_kernel` has it; nothing for all others, such as operations and types that a program made. Some ten
/// instructions; any thread may ask, at any time.
///
/// Fortran's default REAL has 4 bytes here, and its INTEGER as many as MPI's own, whatever the options that a program
/// was compiled with.
[[nodiscard]] std::optional<PredefinedReduction> predefined_reduction(MPI_Op operation, MPI_Datatype type) noexcept;

/// The kernel for it, or null where there is none.
/// \throws ArgumentError  as `simd::selected_isa` does
[[nodiscard]] simd::ReduceKernel* reduce_kernel(MPI_Op operation, MPI_Datatype type);

}  // namespace plait::mpi
