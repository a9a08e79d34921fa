#pragma once

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/transform/scale_element.hpp"

namespace plait::simd {

/// The type whose kernel serves T: signed integers wrap as unsigned ones do.
template <class T>
struct KernelType {
  using type = T;
};
template <class T>
  requires std::is_integral_v<T>
struct KernelType<T> {
  using type = std::make_unsigned_t<T>;
};

/// `n` elements of `scale_add`. T is an unsigned integer, a real or a complex type. `streaming` where beta is 0 and the
/// target is beyond the caches; the stores are left to be flushed.
template <class T>
using ScaleKernel = void(const Scaling<T>& scaling, Index n, const T* source, T* target, bool streaming);

/// The kernel for an instruction set, for callers that run it many times.
template <class T>
[[nodiscard]] ScaleKernel<T>& scale_kernel(Isa isa);

}  // namespace plait::simd
