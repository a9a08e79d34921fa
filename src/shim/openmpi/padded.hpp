#pragma once

#include "plait/base/index.hpp"
#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::shim::openmpi {

/// inout[i] = in[i] op inout[i] for one i, without the padding at the end of the elements.
using OneOf = void(Index i, const void* in, void* inout) noexcept;

/// Kernels read and write all of an element, if only to leave its padding as it is, but Open MPI takes memory for n of
/// them without the padding of the last one, which therefore is for this function.
///
/// \return  null for elements that don't end in padding, and for those that the operation is not defined on
[[nodiscard]] OneOf* one_padded(simd::ReduceOperation operation, simd::Element element) noexcept;

}  // namespace plait::shim::openmpi
