#pragma once

#include "plait/simd/reduce/reduce.hpp"

namespace plait::simd {

/// An operation on elements of a kind in its two forms; both are null where there is no such operation.
struct ReduceKernels {
  ReduceKernel* reduce = nullptr;
  CombineKernel* combine = nullptr;
};

/// Looks up the kernels of one instruction set; there are none for what the family knows nothing of.
using ReduceFamily = ReduceKernels(ReduceOperation operation, Element element);

}  // namespace plait::simd
