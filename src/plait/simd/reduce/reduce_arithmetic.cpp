#include <cstdint>
#include <type_traits>

#include "plait/base/complex.hpp"
#include "plait/simd/dispatch.hpp"
#include "plait/simd/reduce/reduce_element.hpp"
#include "plait/simd/reduce/reduce_families.hpp"
#include "plait/simd/reduce/reduce_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/reduce/reduce_arithmetic.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/reduce/reduce_loop.inl"
// clang-format on

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

struct Sum {
  static constexpr Index at_once = 1;
  template <class D, class V>
  static HWY_INLINE V of(D /*d*/, V a, V b) {
    return hn::Add(a, b);
  }
};

template <class L>
struct Product {
  static constexpr Index at_once = 1;
  template <class D, class V>
  static HWY_INLINE V of(D /*d*/, V a, V b) {
    return hn::Mul(a, b);
  }
};

/// Bytes are multiplied as halves of pairs of them, since no processor has it otherwise.
template <>
struct Product<std::uint8_t> {
  static constexpr Index at_once = 2;
  static constexpr bool uses_operands_again = true;

  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    const hn::Repartition<std::uint16_t, D> wide;
    const auto wide_a = hn::BitCast(wide, a);
    const auto even = hn::Mul(wide_a, hn::BitCast(wide, b));
    const auto odd = hn::Mul(hn::AndNot(hn::Set(wide, 0xff), wide_a), upper_bytes(wide, b));
    return hn::BitCast(d, hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, even)));
  }

  /// The upper byte of each pair as the lower one; the other is of no account. Multiplying takes the ports of x86's
  /// shifts by bits, not those of its shuffles.
  template <class DW, class V>
  static HWY_INLINE hn::VFromD<DW> upper_bytes(DW wide, V pairs) {
    if constexpr (HWY_ARCH_X86) {
      return hn::BitCast(wide, hn::ShiftRightBytes<1>(hn::DFromV<V>(), pairs));
    } else {
      return hn::ShiftRight<8>(hn::BitCast(wide, pairs));
    }
  }
};

/// a > b ? a : b. The x86 processors' own maximum and minimum of floating-point numbers are just that, NaN and zeros of
/// either sign included; others differ.
struct Maximum {
  static constexpr Index at_once = 1;
  template <class D, class V>
  static HWY_INLINE V of(D /*d*/, V a, V b) {
    if constexpr (std::is_integral_v<hn::TFromD<D>> || HWY_ARCH_X86) {
      return hn::Max(a, b);
    } else {
      return hn::IfThenElse(hn::Gt(a, b), a, b);
    }
  }
};

struct Minimum {
  static constexpr Index at_once = 1;
  template <class D, class V>
  static HWY_INLINE V of(D /*d*/, V a, V b) {
    if constexpr (std::is_integral_v<hn::TFromD<D>> || HWY_ARCH_X86) {
      return hn::Min(a, b);
    } else {
      return hn::IfThenElse(hn::Lt(a, b), a, b);
    }
  }
};

/// The lanes whose sums and products are T's: signed integers wrap as unsigned ones do.
template <class T>
struct Lane {
  using type = T;
};
template <class T>
  requires std::is_integral_v<T>
struct Lane<T> {
  using type = std::make_unsigned_t<T>;
};

template <class T>
constexpr bool is_number = std::is_integral_v<T> || std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T>
ReduceKernels kernels_of(ReduceOperation operation) {
  if constexpr (is_number<T>) {
    using L = typename Lane<T>::type;
    switch (operation) {
      case ReduceOperation::max: return kernels<Maximum, T>;
      case ReduceOperation::min: return kernels<Minimum, T>;
      case ReduceOperation::sum: return kernels<Sum, L>;
      case ReduceOperation::prod: return kernels<Product<L>, L>;
      default: break;
    }
  } else if constexpr (is_complex<T>) {
    if (operation == ReduceOperation::sum) return kernels<Sum, typename T::value_type, 2>;
  }
  return {};
}

}  // namespace

PLAIT_SIMD_REDUCE_FAMILY_OF_TARGET(arithmetic)

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

PLAIT_SIMD_REDUCE_FAMILY(arithmetic)

}  // namespace plait::simd
#endif
