#pragma once

#include "plait/mpi/predefined.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::shim::reduce {

/// As `shim::isa_of_program`; rank 0 tells.
[[nodiscard]] simd::Isa isa_of_program() noexcept;

/// The kernel, or null where there is none. Two loads but for the first time; any thread may ask.
[[nodiscard]] simd::ReduceKernel* kernel_of(const mpi::PredefinedReduction& reduction) noexcept;
[[nodiscard]] const schedule::Combine* combine_of(const mpi::PredefinedReduction& reduction) noexcept;
/// That of the exact sum of all operands, rounded once: of float, double, and complex numbers of both.
[[nodiscard]] const schedule::Combine* exact_sum_of(const mpi::PredefinedReduction& reduction) noexcept;

}  // namespace plait::shim::reduce
