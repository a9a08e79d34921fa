#include "plait/simd/exact/reproducible_sum.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "plait/simd/default_arithmetic.hpp"
#include "plait/simd/dispatch.hpp"
#include "plait/simd/exact/exact_element.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/exact/reproducible_sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/exact/sum_with_care.inl"
#include "plait/simd/exact/two_sum.inl"
// clang-format on

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// The sums of a vector of floats as doubles, with one sum of errors. False, and nothing stored, where that loses a
/// bit.
template <class D>
HWY_INLINE bool sum_as_doubles(D d, Index i, Operands operands, float* out) {
  const auto zero = hn::Zero(d);
  auto sum = hn::Set(d, -0.0);
  auto errors = zero;
  auto lost = zero;
  for (const std::byte* operand : operands) add(load_real<float>(d, element_at<float>(operand, i)), sum, errors, lost);
  if (!hn::AllTrue(d, hn::Eq(lost, zero))) return false;
  store_real<float>(d, hn::IfThenElse(hn::Eq(errors, zero), sum, odd_sum(d, sum, errors)), out + i);
  return true;
}

/// The sums of as many elements as T's vectors have lanes, which are as many vectors of doubles as fill them.
template <class T, class D, class Wide>
HWY_INLINE void sum_vector_with_care(D d, Wide wide, Index i, Operands operands, T* out) {
  const Index end = i + static_cast<Index>(hn::Lanes(d));
  for (; i < end; i += static_cast<Index>(hn::Lanes(wide))) {
    if constexpr (std::is_same_v<T, float>) {
      if (HWY_LIKELY(sum_as_doubles(wide, i, operands, out))) continue;
    }
    sum_with_care<T>(wide, i, operands, out);
  }
}

/// The sum where `add` has lost nothing. A sum of -0 has only addends of -0.
template <class D, class V>
HWY_INLINE V rounded_sum(D d, V sum, V errors) {
  return hn::IfThenElse(hn::Eq(errors, hn::Zero(d)), sum, hn::Add(sum, errors));
}

/// As many elements as fill two vectors at a time, or one, from `i` on; returns the first that is left. The sum and
/// that of its errors are mostly exact; `wide` has lanes for doubles, for where they aren't.
template <class T, class D, class Wide>
HWY_INLINE Index sum_whole_vectors(D d, Wide wide, Index i, Index n, Operands operands, T* out) {
  using V = hn::VFromD<D>;
  const V zero = hn::Zero(d);
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto load = [&](std::size_t k, Index element) { return hn::LoadU(d, element_at<T>(operands[k], element)); };
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const Index j = i + lanes;
    V errors0;
    V errors1;
    V sum0 = two_sum(load(0, i), load(1, i), errors0);
    V sum1 = two_sum(load(0, j), load(1, j), errors1);
    V lost = zero;
    for (std::size_t k = 2; k < operands.size(); ++k) {
      add(load(k, i), sum0, errors0, lost);
      add(load(k, j), sum1, errors1, lost);
    }
    if (HWY_LIKELY(hn::AllTrue(d, hn::Eq(lost, zero)))) {
      hn::StoreU(rounded_sum(d, sum0, errors0), d, out + i);
      hn::StoreU(rounded_sum(d, sum1, errors1), d, out + j);
    } else {
      sum_vector_with_care<T>(d, wide, i, operands, out);
      sum_vector_with_care<T>(d, wide, j, operands, out);
    }
  }
  for (; i + lanes <= n; i += lanes) {
    V errors;
    V sum = two_sum(load(0, i), load(1, i), errors);
    V lost = zero;
    for (std::size_t k = 2; k < operands.size(); ++k) add(load(k, i), sum, errors, lost);
    if (hn::AllTrue(d, hn::Eq(lost, zero))) {
      hn::StoreU(rounded_sum(d, sum, errors), d, out + i);
    } else {
      sum_vector_with_care<T>(d, wide, i, operands, out);
    }
  }
  return i;
}

/// One or two operands, of which the rounded sum is the result.
template <class T, class D>
HWY_INLINE Index sum_at_most_two(D d, Index i, Index n, Operands operands, T* out) {
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (; i + lanes <= n; i += lanes) {
    auto sum = hn::LoadU(d, element_at<T>(operands[0], i));
    if (operands.size() == 2) sum = hn::Add(sum, hn::LoadU(d, element_at<T>(operands[1], i)));
    hn::StoreU(with_one_nan(d, sum), d, out + i);
  }
  return i;
}

template <class T>
HWY_NOINLINE void sum_elements(Index n, Operands operands, T* out) {
  if (operands.size() <= 2) {
    const Index done = sum_at_most_two<T>(hn::ScalableTag<T>(), 0, n, operands, out);
    sum_at_most_two<T>(hn::FixedTag<T, 1>(), done, n, operands, out);
  } else {
    const hn::FixedTag<double, 1> one_double;
    const Index done = sum_whole_vectors<T>(hn::ScalableTag<T>(), hn::ScalableTag<double>(), 0, n, operands, out);
    sum_whole_vectors<T>(hn::FixedTag<T, 1>(), one_double, done, n, operands, out);
  }
}

}  // namespace

template <class T>
void sum_kernel_of_target(Index n, Operands operands, std::byte* out) {
  const DefaultArithmetic arithmetic;
  sum_elements(n, operands, reinterpret_cast<T*>(out));
}

template <class T>
void complex_sum_kernel_of_target(Index n, Operands operands, std::byte* out) {
  sum_kernel_of_target<T>(2 * n, operands, out);
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

template <class T>
HWY_NOINLINE void sum_one_by_one(Index n, Operands operands, std::byte* out) {
  for (Index i = 0; i < n; ++i) {
    const T sum = exact_element<T>(i, operands);
    std::memcpy(out + i * Index{sizeof sum}, &sum, sizeof sum);
  }
}

template <class T>
void sum_scalar(Index n, Operands operands, std::byte* out) {
  const DefaultArithmetic arithmetic;
  sum_one_by_one<T>(n, operands, out);
}

template <class T>
void complex_sum_scalar(Index n, Operands operands, std::byte* out) {
  sum_scalar<T>(2 * n, operands, out);
}

template <class T>
constexpr KernelTable<ReproducibleSumKernel> kernels(PLAIT_SIMD_KERNELS(&sum_scalar<T>, sum_kernel_of_target<T>));
template <class T>
constexpr KernelTable<ReproducibleSumKernel> complex_kernels(PLAIT_SIMD_KERNELS(&complex_sum_scalar<T>,
                                                                                complex_sum_kernel_of_target<T>));

}  // namespace

ReproducibleSumKernel* reproducible_sum_kernel(Element element, Isa isa) {
  switch (element) {
    case Element::float32: return &kernels<float>[isa];
    case Element::float64: return &kernels<double>[isa];
    case Element::complex64: return &complex_kernels<float>[isa];
    case Element::complex128: return &complex_kernels<double>[isa];
    default: return nullptr;
  }
}

}  // namespace plait::simd
#endif
