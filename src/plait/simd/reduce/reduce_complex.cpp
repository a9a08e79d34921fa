#include <cstdint>

#include "plait/base/complex.hpp"
#include "plait/simd/dispatch.hpp"
#include "plait/simd/reduce/reduce_element.hpp"
#include "plait/simd/reduce/reduce_families.hpp"
#include "plait/simd/reduce/reduce_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/reduce/reduce_complex.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/reduce/reduce_loop.inl"
// clang-format on

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

/// (a + bi)(c + di) = (ac - bd) + (ad + bc)i; a complex number lies in memory as two lanes, the even one real.
template <class L>
struct ComplexProduct {
  static constexpr Index at_once = 2;
  static constexpr bool uses_operands_again = true;
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    const V straight = hn::Mul(hn::DupEven(a), b);
    const V crossed = hn::Mul(hn::DupOdd(a), hn::Reverse2(d, b));
    const V negative_where_even = hn::OddEven(hn::Zero(d), hn::Set(d, -L{0}));
    return hn::Add(straight, hn::Xor(crossed, negative_where_even));
  }
};

template <class T>
ReduceKernels kernels_of(ReduceOperation operation) {
  if constexpr (is_complex<T>) {
    using L = typename T::value_type;
    if (operation == ReduceOperation::prod) return kernels<ComplexProduct<L>, L, 2>;
  }
  return {};
}

}  // namespace

PLAIT_SIMD_REDUCE_FAMILY_OF_TARGET(complex)

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

PLAIT_SIMD_REDUCE_FAMILY(complex)

}  // namespace plait::simd
#endif
