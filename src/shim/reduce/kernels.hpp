#pragma once

#include <mpi.h>

#include <optional>

#include "plait/mpi/predefined.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::shim::reduce {

/// As `shim::isa_of_program`; rank 0 tells.
[[nodiscard]] simd::Isa isa_of_program() noexcept;

/// The kernel, or null where there is none. Two loads but for the first time; any thread may ask.
[[nodiscard]] simd::ReduceKernel* kernel_of(const mpi::PredefinedReduction& reduction) noexcept;

/// How operands of a type are combined by an operation.
struct Combining {
  const schedule::Combine* combine;
  const schedule::Combine* exact_sum;  // of all operands, rounded once: of floating point numbers; else null
  bool depends_on_order;
  std::optional<simd::Element> padded;  // pairs
};

/// Nothing where there is no way. Each thread remembers what it asked for last, which it mostly asks for next.
[[nodiscard]] std::optional<Combining> combining_of(MPI_Op operation, MPI_Datatype type) noexcept;

}  // namespace plait::shim::reduce
