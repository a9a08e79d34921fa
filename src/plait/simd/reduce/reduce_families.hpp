#pragma once

#include "plait/simd/dispatch.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/reduce/reduce_element.hpp"
#include "plait/simd/reduce/reduce_kernels.hpp"
#include "plait/simd/reduce/reduce_reference.hpp"

namespace plait::simd {

// The vector kernels, by how they are computed: one source file each. Where there are no vectors, the reference takes
// their place.
//
// \pre  is_supported(isa)

/// Maximum, minimum, sum and product of integers, floats and doubles; sums of complex numbers.
[[nodiscard]] ReduceFamily& arithmetic_kernels(Isa isa);

/// Bitwise operations on integers.
[[nodiscard]] ReduceFamily& bitwise_kernels(Isa isa);

/// Logical operations on integers and truth values.
[[nodiscard]] ReduceFamily& logical_kernels(Isa isa);

/// Products of complex numbers.
[[nodiscard]] ReduceFamily& complex_kernels(Isa isa);

/// Maximum, minimum, sum and product of 16-bit floating-point numbers.
[[nodiscard]] ReduceFamily& float16_kernels(Isa isa);

/// Maximum and minimum of pairs, but of long doubles.
[[nodiscard]] ReduceFamily& pairs_kernels(Isa isa);

}  // namespace plait::simd

// NOLINTBEGIN(bugprone-macro-parentheses): names are made of pieces
/// What the source file of a family ends with in each target's namespace, where its `kernels_of<T>(operation)` are...
#define PLAIT_SIMD_REDUCE_FAMILY_OF_TARGET(family)                                             \
  ReduceKernels family##_kernels_of_target(ReduceOperation operation, Element element) {       \
    return with_type_of(element, [operation]<class T>() { return kernels_of<T>(operation); }); \
  }

/// ... and, once, outside of them: the function above.
#define PLAIT_SIMD_REDUCE_FAMILY(family)                                                                           \
  namespace {                                                                                                      \
  constexpr KernelTable<ReduceFamily> families(PLAIT_SIMD_KERNELS(&reduce_reference, family##_kernels_of_target)); \
  }                                                                                                                \
  ReduceFamily& family##_kernels(Isa isa) { return families[isa]; }
// NOLINTEND(bugprone-macro-parentheses)
