#pragma once

#include "plait/simd/reduce/reduce_kernels.hpp"

namespace plait::simd {

/// What `reduce_kernel` and `combine_kernel` do, element by element: nothing but the definitions. Also what runs where
/// there are no vectors, and for long double.
[[nodiscard]] ReduceKernels reduce_reference(ReduceOperation operation, Element element);

}  // namespace plait::simd
