#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#include "plait/base/complex.hpp"
#include "plait/simd/cache_lines.hpp"
#include "plait/simd/dispatch.hpp"
#include "plait/simd/transform/reference.hpp"
#include "plait/simd/transform/scale_kernel.hpp"
#include "plait/simd/transform/transposition.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/transform/scale.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#ifndef PLAIT_SIMD_SCALE_ONCE
#define PLAIT_SIMD_SCALE_ONCE

namespace plait::simd {

namespace {

template <class T>
struct LaneOf {
  using type = T;
};
template <class T>
struct LaneOf<std::complex<T>> {
  using type = T;
};

}  // namespace

}  // namespace plait::simd

#endif

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// (even, odd, even, odd...), as a complex number lies in memory.
template <class D, class L = hn::TFromD<D>>
HWY_INLINE hn::VFromD<D> pairs(D d, L even, L odd) {
  return hn::OddEven(hn::Set(d, odd), hn::Set(d, even));
}

template <class T, class D, class V>
HWY_INLINE V conjugated(D d, V v) {
  if constexpr (is_complex<T>) {
    using Lane = hn::TFromD<D>;
    return hn::Xor(v, pairs(d, Lane{0}, -Lane{0}));
  } else {
    return v;
  }
}

/// factor * op(v). With op the conjugate, (a + bi)(c - di) = (ac + bd) + (-ad + bc)i, the signs go into the factor: a
/// sign never changes how a product or a sum is rounded.
template <class T, class D, class V>
HWY_INLINE V multiplied(D d, T factor, bool conjugate, V v) {
  if constexpr (is_complex<T>) {
    const auto a = factor.real();
    const auto b = factor.imag();
    const V straight = pairs(d, a, conjugate ? -a : a);
    const V crossed = pairs(d, conjugate ? b : -b, b);
    return hn::Add(hn::Mul(straight, v), hn::Mul(crossed, hn::Reverse2(d, v)));
  } else if constexpr (sizeof(T) == 1) {
    const hn::Repartition<std::uint16_t, D> pairs_of_bytes;  // no processor multiplies bytes
    const auto wide = hn::Set(pairs_of_bytes, std::uint16_t{factor});
    const auto low = hn::Mul(wide, hn::BitCast(pairs_of_bytes, v));
    const auto high = hn::Mul(wide, hn::ShiftRight<8>(hn::BitCast(pairs_of_bytes, v)));
    return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<8>(high)), hn::BitCast(d, low));
  } else {
    return hn::Mul(hn::Set(d, factor), v);
  }
}

/// As many elements as fill whole vectors, from `i` on, which is on a vector's boundary if `streaming`; returns the
/// first one that is left.
template <Factor by_alpha, Factor by_beta, bool streaming, class D, class T>
HWY_INLINE Index scale_whole_vectors(D d, const Scaling<T>& scaling, Index i, Index n, const T* source, T* target) {
  using Lane = hn::TFromD<D>;
  using V = hn::VFromD<D>;
  const Index step = static_cast<Index>(hn::Lanes(d) * sizeof(Lane) / sizeof(T));
  const bool conjugate = is_complex<T> && scaling.conjugate;
  for (; i + step <= n; i += step) {
    auto* to = reinterpret_cast<Lane*>(target + i);
    V result = hn::Zero(d);
    if constexpr (by_alpha != Factor::zero) {
      result = hn::LoadU(d, reinterpret_cast<const Lane*>(source + i));
      if constexpr (by_alpha == Factor::other) {
        result = multiplied(d, scaling.alpha, conjugate, result);
      } else if (conjugate) {
        result = conjugated<T>(d, result);
      }
    }
    if constexpr (by_beta != Factor::zero) {
      V old = hn::LoadU(d, to);
      if constexpr (by_beta == Factor::other) old = multiplied(d, scaling.beta, false, old);
      if constexpr (by_alpha == Factor::zero) {
        result = old;
      } else {
        result = hn::Add(result, old);
      }
    }
    if constexpr (streaming) {
      hn::Stream(result, d, to);
    } else {
      hn::StoreU(result, d, to);
    }
  }
  return i;
}

/// Long vectors, then short ones, since columns are often shorter than a long one, then elements.
template <Factor by_alpha, Factor by_beta, class T>
void scale_vectors(const Scaling<T>& scaling, Index n, const T* source, T* target) {
  using Lane = typename LaneOf<T>::type;
  const hn::ScalableTag<Lane> longest;
  const hn::FixedTag<Lane, 16 / sizeof(Lane)> shortest;
  Index i = scale_whole_vectors<by_alpha, by_beta, false>(longest, scaling, 0, n, source, target);
  i = scale_whole_vectors<by_alpha, by_beta, false>(shortest, scaling, i, n, source, target);
  for (; i < n; ++i) {
    const T* from = by_alpha == Factor::zero ? nullptr : source + i;
    target[i] = scale_added_element(scaling, from, target + i);
  }
}

/// alpha * op(source), whole lines of the target past the caches. What is shorter than two lines would be lines written
/// in part for the most.
template <Factor by_alpha, class T>
HWY_NOINLINE void scale_streaming(const Scaling<T>& scaling, Index n, const T* source, T* target) {
  const hn::ScalableTag<typename LaneOf<T>::type> longest;
  constexpr Index element = Index{sizeof(T)};
  const auto* begin = reinterpret_cast<const std::byte*>(target);
  if (bytes_past_line(begin) % element != 0 || n * element < 2 * line_bytes) {
    return scale_vectors<by_alpha, Factor::zero>(scaling, n, source, target);
  }
  const Index first = elements_to_line<element>(begin);
  const Index last = n - (n - first) % (line_bytes / element);
  scale_vectors<by_alpha, Factor::zero>(scaling, first, source, target);
  const Index left = scale_whole_vectors<by_alpha, Factor::zero, true>(longest, scaling, first, last, source, target);
  scale_vectors<by_alpha, Factor::zero>(scaling, n - left, source + left, target + left);
}

template <Factor by_alpha, class T>
void scale_by_alpha(const Scaling<T>& scaling, Index n, const T* source, T* target, bool streaming) {
  switch (scaling.by_beta) {
    case Factor::zero:
      if (streaming) return scale_streaming<by_alpha>(scaling, n, source, target);
      return scale_vectors<by_alpha, Factor::zero>(scaling, n, source, target);
    case Factor::one: return scale_vectors<by_alpha, Factor::one>(scaling, n, source, target);
    case Factor::other: return scale_vectors<by_alpha, Factor::other>(scaling, n, source, target);
  }
}

}  // namespace

template <class T>
void scale_kernel_of_target(const Scaling<T>& scaling, Index n, const T* source, T* target, bool streaming) {
  switch (scaling.by_alpha) {
    case Factor::zero:
      if (scaling.by_beta == Factor::other) {
        scale_vectors<Factor::zero, Factor::other>(scaling, n, source, target);
      } else if (scaling.by_beta == Factor::zero) {
        std::fill_n(target, n, T(0));
      }
      return;
    case Factor::one:
      if (scaling.is_copy()) {
        if (source != target) std::memcpy(target, source, static_cast<std::size_t>(n) * sizeof(T));
      } else {
        scale_by_alpha<Factor::one>(scaling, n, source, target, streaming);
      }
      return;
    case Factor::other: return scale_by_alpha<Factor::other>(scaling, n, source, target, streaming);
  }
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

template <class T>
void scale_scalar(const Scaling<T>& scaling, Index n, const T* source, T* target, bool /*streaming*/) {
  scale_add_reference(n, scaling.alpha, source, scaling.conjugate, scaling.beta, target);
}

template <class T>
constexpr KernelTable<ScaleKernel<T>> scale_kernels(PLAIT_SIMD_KERNELS(&scale_scalar<T>, scale_kernel_of_target<T>));

}  // namespace

template <class T>
ScaleKernel<T>& scale_kernel(Isa isa) {
  return scale_kernels<T>[isa];
}

template decltype(scale_kernel<std::uint8_t>) scale_kernel<std::uint8_t>;
template decltype(scale_kernel<std::uint16_t>) scale_kernel<std::uint16_t>;
template decltype(scale_kernel<std::uint32_t>) scale_kernel<std::uint32_t>;
template decltype(scale_kernel<std::uint64_t>) scale_kernel<std::uint64_t>;
template decltype(scale_kernel<float>) scale_kernel<float>;
template decltype(scale_kernel<double>) scale_kernel<double>;
template decltype(scale_kernel<std::complex<float>>) scale_kernel<std::complex<float>>;
template decltype(scale_kernel<std::complex<double>>) scale_kernel<std::complex<double>>;

}  // namespace plait::simd
#endif
