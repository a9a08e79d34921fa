#include <cstdint>
#include <type_traits>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/reduce/reduce_element.hpp"
#include "plait/simd/reduce/reduce_families.hpp"
#include "plait/simd/reduce/reduce_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/reduce/reduce_float16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/reduce/compare_where.inl"
#include "plait/simd/reduce/reduce_loop.inl"
// clang-format on

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

// Lanes are the bits of the numbers.

/// bfloat16: half of them at a time is the upper half of floats already, the other half is shifted there.
struct BrainFloat {
  template <class DW, class VW = hn::VFromD<DW>>
  static HWY_INLINE auto even(DW /*words*/, VW words) {
    const hn::Rebind<float, DW> floats;
    return hn::BitCast(floats, hn::ShiftLeft<16>(words));
  }
  template <class DW, class VW = hn::VFromD<DW>>
  static HWY_INLINE auto odd(DW d, VW words) {
    const hn::Rebind<float, DW> floats;
    return hn::BitCast(floats, hn::And(words, hn::Set(d, 0xffff0000U)));
  }
  /// Rounds the upper halves up where the lower ones are more than a half of their last bit, or just that and it is
  /// set. NaN needs no care: it is that of an operand or the processor's own, quiet, and has no bits in its lower half.
  template <class D, class VF>
  static HWY_INLINE hn::VFromD<D> joined(D d, VF even, VF odd) {
    const hn::VFromD<D> upper = joined_halves<1>(d, even, odd);
    const hn::VFromD<D> lower = joined_halves<0>(d, even, odd);
    const auto one = hn::Set(d, std::uint16_t{1});
    const auto up = hn::Gt(hn::OrAnd(lower, upper, one), hn::Set(d, std::uint16_t{0x8000}));
    return hn::IfThenElse(up, hn::Add(upper, one), upper);
  }

  /// The lower (0) or upper (1) halves of the even floats and of the odd ones in turn.
  template <int half, class D, class VF>
  static HWY_INLINE hn::VFromD<D> joined_halves(D d, VF even, VF odd) {
    const hn::RepartitionToWide<D> words;
    const auto even_bits = hn::BitCast(words, even);
    const auto odd_bits = hn::BitCast(words, odd);
#if HWY_TARGET == HWY_AVX3
    if constexpr (hn::MaxLanes(D()) == 32) {
      // Lane i comes from lane i or its neighbour, of `odd` where i is odd.
      const auto from = hn::Add(hn::Iota(d, 0), hn::BitCast(d, hn::Set(words, half == 0 ? 0x001f0000U : 0x00200001U)));
      return hn::VFromD<D>{_mm512_permutex2var_epi16(even_bits.raw, from.raw, odd_bits.raw)};
    }
#endif
    if constexpr (half == 0) {
      return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(odd_bits)), hn::BitCast(d, even_bits));
    } else {
      return hn::OddEven(hn::BitCast(d, odd_bits), hn::BitCast(d, hn::ShiftRight<16>(even_bits)));
    }
  }
};

/// binary16, for processors that can't convert it: what `to_float` and `to_float16` do.
struct HalfFloat {
  template <class DW, class VW = hn::VFromD<DW>>
  static HWY_INLINE auto even(DW d, VW words) {
    return widened(d, hn::And(words, hn::Set(d, 0xffffU)));
  }
  template <class DW, class VW = hn::VFromD<DW>>
  static HWY_INLINE auto odd(DW d, VW words) {
    return widened(d, hn::ShiftRight<16>(words));
  }

  template <class DW, class VW>
  static HWY_INLINE auto widened(DW d, VW bits) {
    const hn::Rebind<float, DW> floats;
    const hn::RebindToSigned<DW> integers;
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7fffU));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
    const auto compared = hn::BitCast(integers, magnitude);
    const auto special = hn::RebindMask(d, hn::Gt(compared, hn::Set(integers, 0x7bff)));
    const auto small = hn::RebindMask(d, hn::Lt(compared, hn::Set(integers, 0x0400)));
    const auto rebias = hn::IfThenElse(special, hn::Set(d, (255U - 31U) << 23), hn::Set(d, (127U - 15U) << 23));
    const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), rebias);
    const auto subnormal = hn::Mul(hn::ConvertTo(floats, compared), hn::Set(floats, 0x1p-24F));
    return hn::BitCast(floats, hn::Or(sign, hn::IfThenElse(small, hn::BitCast(d, subnormal), normal)));
  }

  template <class D, class VF>
  static HWY_INLINE hn::VFromD<D> joined(D d, VF even, VF odd) {
    const hn::RepartitionToWide<D> words;
    const auto odd_bits = hn::ShiftLeft<16>(rounded(words, odd));
    return hn::OddEven(hn::BitCast(d, odd_bits), hn::BitCast(d, rounded(words, even)));
  }

  /// Magnitudes are compared as integers: comparing a NaN as a number raises an exception that the arithmetic did not.
  template <class DW, class VF>
  static HWY_INLINE hn::VFromD<DW> rounded(DW d, VF value) {
    const hn::Rebind<float, DW> floats;
    const hn::RebindToSigned<DW> integers;
    const auto absolute = hn::Abs(value);
    const auto magnitude = hn::BitCast(d, absolute);
    const auto sign = hn::ShiftRight<16>(hn::Xor(hn::BitCast(d, value), magnitude));
    const auto half = hn::Set(floats, 0.5F);
    const auto subnormal = hn::Sub(hn::BitCast(d, hn::Add(absolute, half)), hn::BitCast(d, half));
    const auto last = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 1U));
    const auto nearest = hn::Add(magnitude, hn::Add(last, hn::Set(d, 0xfffU - ((127U - 15U) << 23))));
    const auto compared = hn::BitCast(integers, magnitude);
    const auto small = hn::RebindMask(d, hn::Lt(compared, hn::Set(integers, (127 - 14) << 23)));
    const auto large = hn::RebindMask(d, hn::Gt(compared, hn::Set(integers, ((127 + 16) << 23) - 1)));
    const auto nan = hn::RebindMask(d, hn::Gt(compared, hn::Set(integers, 255 << 23)));
    auto result = hn::IfThenElse(small, subnormal, hn::ShiftRight<13>(nearest));
    result = hn::IfThenElse(large, hn::Set(d, 0x7c00U), result);
    result = hn::IfThenElse(nan, hn::Set(d, 0x7e00U), result);
    return hn::Or(result, sign);
  }
};

struct Plus {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Add(a, b);
  }
};

/// The same on the multipliers' ports, where those of the adders have conversions to do.
struct PlusByMultiplier {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::MulAdd(a, hn::Set(hn::DFromV<V>(), 1.0F), b);
  }
};

struct Times {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Mul(a, b);
  }
};

/// Sums or products, by floats of the even lanes and of the odd ones.
template <class Format, class Arithmetic>
struct ByFloats {
  static constexpr Index at_once = 2;
  static constexpr bool uses_operands_again = true;
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    const hn::RepartitionToWide<D> wide;
    const auto wide_a = hn::BitCast(wide, a);
    const auto wide_b = hn::BitCast(wide, b);
    const auto even = Arithmetic::of(Format::even(wide, wide_a), Format::even(wide, wide_b));
    const auto odd = Arithmetic::of(Format::odd(wide, wide_a), Format::odd(wide, wide_b));
    return Format::joined(d, even, odd);
  }
};

/// The same of binary16 where the processor converts it, half a vector at a time.
template <class Arithmetic>
struct ByConvertedFloats {
  static constexpr Index at_once = 1;
  static constexpr int vector_length = -1;
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    const hn::Rebind<hwy::float16_t, D> halves;
    const hn::Rebind<float, D> floats;
    const auto wide_a = hn::PromoteTo(floats, hn::BitCast(halves, a));
    const auto wide_b = hn::PromoteTo(floats, hn::BitCast(halves, b));
    return hn::BitCast(d, hn::DemoteTo(halves, Arithmetic::of(wide_a, wide_b)));
  }
};

/// a > b ? a : b of bfloat16, or with < for >: as floats, the even ones and the odd ones. Of the x86 processors' own
/// maximum and minimum see reduce_arithmetic.cpp.
template <bool maximum>
struct ExtremumByFloats {
  static constexpr Index at_once = 2;
  static constexpr bool uses_operands_again = true;

  template <class VF>
  static HWY_INLINE VF of_floats(VF a, VF b) {
    if constexpr (HWY_ARCH_X86) {
      return maximum ? hn::Max(a, b) : hn::Min(a, b);
    } else {
      return hn::IfThenElse(maximum ? hn::Gt(a, b) : hn::Lt(a, b), a, b);
    }
  }

  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    const hn::RepartitionToWide<D> wide;
    const auto wide_a = hn::BitCast(wide, a);
    const auto wide_b = hn::BitCast(wide, b);
    const auto even = of_floats(BrainFloat::even(wide, wide_a), BrainFloat::even(wide, wide_b));
    const auto odd = of_floats(BrainFloat::odd(wide, wide_a), BrainFloat::odd(wide, wide_b));
    return hn::BitCast(d, hn::Or(hn::ShiftRight<16>(hn::BitCast(wide, even)), hn::BitCast(wide, odd)));
  }
};

/// a > b ? a : b of binary16, or with < for >: as integers in the order of the numbers, a negative one's magnitude
/// complemented. Two zeros, whose integers differ, are left out together with NaN: b is the result of both.
template <bool maximum>
struct ExtremumByIntegers {
  static constexpr Index at_once = 1;
  static constexpr bool uses_operands_again = true;
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    const V all_but_sign = hn::Set(d, std::int16_t{0x7fff});
    const V magnitude_a = hn::And(a, all_but_sign);
    const V magnitude_b = hn::And(b, all_but_sign);
    const V order_a = hn::Xor(magnitude_a, hn::ShiftRight<15>(a));
    const V order_b = hn::Xor(magnitude_b, hn::ShiftRight<15>(b));
    // From 1 to infinity, when the least integer is made of 1.
    constexpr std::int16_t one_to_least = 0x7fff, infinity = 0x7c00;
    const V larger = hn::Add(hn::Max(magnitude_a, magnitude_b), hn::Set(d, one_to_least));
    const auto ordered = hn::Lt(larger, hn::Set(d, static_cast<std::int16_t>(infinity + one_to_least + 1)));
    const auto taken = maximum ? less_where(d, ordered, order_b, order_a) : less_where(d, ordered, order_a, order_b);
    return hn::IfThenElse(taken, a, b);
  }
};

constexpr bool converts_halves = HWY_TARGET != HWY_SSSE3 && HWY_TARGET != HWY_SSE4;

using Bits = std::uint16_t;

ReduceKernels kernels_of_halves(ReduceOperation operation) {
  using Sum = std::conditional_t<converts_halves, ByConvertedFloats<PlusByMultiplier>, ByFloats<HalfFloat, Plus>>;
  using Product = std::conditional_t<converts_halves, ByConvertedFloats<Times>, ByFloats<HalfFloat, Times>>;
  switch (operation) {
    case ReduceOperation::max: return kernels<ExtremumByIntegers<true>, std::int16_t>;
    case ReduceOperation::min: return kernels<ExtremumByIntegers<false>, std::int16_t>;
    case ReduceOperation::sum: return kernels<Sum, Bits>;
    case ReduceOperation::prod: return kernels<Product, Bits>;
    default: return {};
  }
}

ReduceKernels kernels_of_brain_floats(ReduceOperation operation) {
  switch (operation) {
    case ReduceOperation::max: return kernels<ExtremumByFloats<true>, Bits>;
    case ReduceOperation::min: return kernels<ExtremumByFloats<false>, Bits>;
    case ReduceOperation::sum: return kernels<ByFloats<BrainFloat, Plus>, Bits>;
    case ReduceOperation::prod: return kernels<ByFloats<BrainFloat, Times>, Bits>;
    default: return {};
  }
}

template <class T>
ReduceKernels kernels_of(ReduceOperation operation) {
  if constexpr (std::is_same_v<T, Float16>) return kernels_of_halves(operation);
  if constexpr (std::is_same_v<T, BFloat16>) return kernels_of_brain_floats(operation);
  return {};
}

}  // namespace

PLAIT_SIMD_REDUCE_FAMILY_OF_TARGET(float16)

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

PLAIT_SIMD_REDUCE_FAMILY(float16)

}  // namespace plait::simd
#endif
