#include <cstdint>
#include <type_traits>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/reduce/reduce_element.hpp"
#include "plait/simd/reduce/reduce_families.hpp"
#include "plait/simd/reduce/reduce_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/reduce/reduce_logical.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/reduce/reduce_loop.inl"
// clang-format on

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

// L is an unsigned integer. Where a processor has the minimum of those, min(v, 1) is 1 for all that is true.

template <class L>
constexpr bool has_minimum = sizeof(L) < 8 || HWY_HAVE_SCALABLE || HWY_TARGET == HWY_AVX3;

template <class L>
struct LogicalAnd {
  static constexpr Index at_once = 1;
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    const V one = hn::Set(d, L{1});
    if constexpr (has_minimum<L>) {
      return hn::Min(hn::Min(a, b), one);
    } else {
      const V zero = hn::Zero(d);
      return hn::IfThenZeroElse(hn::Or(hn::Eq(a, zero), hn::Eq(b, zero)), one);
    }
  }
};

template <class L>
struct LogicalOr {
  static constexpr Index at_once = 1;
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    const V one = hn::Set(d, L{1});
    const V any = hn::Or(a, b);
    if constexpr (has_minimum<L>) {
      return hn::Min(any, one);
    } else {
      return hn::IfThenZeroElse(hn::Eq(any, hn::Zero(d)), one);
    }
  }
};

template <class L>
struct LogicalXor {
  static constexpr Index at_once = 1;
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    const V one = hn::Set(d, L{1});
    if constexpr (has_minimum<L>) {
      return hn::Xor(hn::Min(a, one), hn::Min(b, one));
    } else {
      const V zero = hn::Zero(d);
      return hn::Xor(hn::IfThenElseZero(hn::Eq(a, zero), one), hn::IfThenElseZero(hn::Eq(b, zero), one));
    }
  }
};

template <class T>
ReduceKernels kernels_of(ReduceOperation operation) {
  if constexpr (std::is_integral_v<T> || is_logical<T>) {
    using L = hwy::UnsignedFromSize<sizeof(T)>;
    switch (operation) {
      case ReduceOperation::land: return kernels<LogicalAnd<L>, L>;
      case ReduceOperation::lor: return kernels<LogicalOr<L>, L>;
      case ReduceOperation::lxor: return kernels<LogicalXor<L>, L>;
      default: break;
    }
  }
  return {};
}

}  // namespace

PLAIT_SIMD_REDUCE_FAMILY_OF_TARGET(logical)

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

PLAIT_SIMD_REDUCE_FAMILY(logical)

}  // namespace plait::simd
#endif
