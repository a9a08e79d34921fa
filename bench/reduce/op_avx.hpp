#pragma once

#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::bench {

/// A kernel of Open MPI's component op/avx: inout[i] = in[i] op inout[i] for *count elements. The other arguments are
/// Open MPI's own affair, and null.
using OpAvxKernel = void(const void* in, void* inout, int* count, void* type, void* module);

/// The one for these, called without Open MPI in between; null where there is none, where the component is not loaded,
/// or where this is not Open MPI 4.1, whose tables are known here. MPI must be running.
[[nodiscard]] OpAvxKernel* op_avx_kernel(simd::ReduceOperation operation, simd::Element element);

}  // namespace plait::bench
