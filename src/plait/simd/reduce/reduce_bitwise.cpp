#include <cstdint>
#include <type_traits>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/reduce/reduce_element.hpp"
#include "plait/simd/reduce/reduce_families.hpp"
#include "plait/simd/reduce/reduce_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/reduce/reduce_bitwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/reduce/reduce_loop.inl"
// clang-format on

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

struct BitwiseAnd {
  static constexpr Index at_once = 1;
  template <class D, class V>
  static HWY_INLINE V of(D /*d*/, V a, V b) {
    return hn::And(a, b);
  }
};

struct BitwiseOr {
  static constexpr Index at_once = 1;
  template <class D, class V>
  static HWY_INLINE V of(D /*d*/, V a, V b) {
    return hn::Or(a, b);
  }
};

struct BitwiseXor {
  static constexpr Index at_once = 1;
  template <class D, class V>
  static HWY_INLINE V of(D /*d*/, V a, V b) {
    return hn::Xor(a, b);
  }
};

/// Bits are the same in lanes of any length.
template <class T>
ReduceKernels kernels_of(ReduceOperation operation) {
  if constexpr (std::is_integral_v<T>) {
    constexpr Index bytes = sizeof(T);
    switch (operation) {
      case ReduceOperation::band: return kernels<BitwiseAnd, std::uint8_t, bytes>;
      case ReduceOperation::bor: return kernels<BitwiseOr, std::uint8_t, bytes>;
      case ReduceOperation::bxor: return kernels<BitwiseXor, std::uint8_t, bytes>;
      default: break;
    }
  }
  return {};
}

}  // namespace

PLAIT_SIMD_REDUCE_FAMILY_OF_TARGET(bitwise)

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

PLAIT_SIMD_REDUCE_FAMILY(bitwise)

}  // namespace plait::simd
#endif
