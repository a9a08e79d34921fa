#pragma once

#include <mpi.h>

#include <optional>

#include "plait/schedule/combine.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::shim::reduce {

/// As `shim::isa_of_program`; rank 0 tells.
[[nodiscard]] simd::Isa isa_of_program() noexcept;

/// Whether PLAIT_REPRODUCIBLE=1 in the environment asks this process for sums that are the same to the last bit
/// whatever the order of the ranks; 0, empty or none is no. Of any other value rank 0 says once on stderr that it is
/// none.
/// \pre  MPI runs
[[nodiscard]] bool is_reproducible_wanted() noexcept;

/// How operands of a type are combined by an operation.
struct Combining {
  simd::ReduceKernel* kernel;
  const schedule::Combine* combine;
  const schedule::Combine* exact_sum;   // of all operands, rounded once: of floating point numbers; else null
  bool depends_on_order;                // whether that may show in the last bits: in rounded sums and products
  std::optional<simd::Element> padded;  // pairs
};

namespace detail {

struct Remembered {
  MPI_Op operation;
  MPI_Datatype type;
  Combining combining;
};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
extern thread_local constinit Remembered last;

[[nodiscard]] const Combining* find_combining(MPI_Op operation, MPI_Datatype type) noexcept;

}  // namespace detail

/// Null where there is no way. Each thread remembers what it asked for last, which it mostly asks for next: it is there
/// until then.
[[nodiscard]] inline const Combining* combining_of(MPI_Op operation, MPI_Datatype type) noexcept {
  const detail::Remembered& last = detail::last;
  const bool is_known = last.operation == operation && last.type == type && last.combining.combine != nullptr;
  return is_known ? &last.combining : detail::find_combining(operation, type);
}

}  // namespace plait::shim::reduce
