#include <cstdint>
#include <type_traits>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/reduce/reduce_element.hpp"
#include "plait/simd/reduce/reduce_families.hpp"
#include "plait/simd/reduce/reduce_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/reduce/reduce_pairs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/reduce/compare_where.inl"
#include "plait/simd/reduce/reduce_loop.inl"
// clang-format on

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

// MAXLOC and MINLOC: of every two pairs, one is taken as a whole, but for the padding, which is b's.

/// a where a bit of `fields` is set, which is all of a byte or nothing, else b.
template <class D, class V, class Fields>
HWY_INLINE V fields_of(D d, Fields fields, V a, V b) {
  const hn::Repartition<std::uint8_t, D> bytes;
  const auto are_fields = hn::MaskFromVec(hn::BitCast(bytes, fields));
  return hn::BitCast(d, hn::IfThenElse(are_fields, hn::BitCast(bytes, a), hn::BitCast(bytes, b)));
}

/// Pairs of integers in 8 bytes: both make one of 64 bits, the value above the index, which counts downwards where the
/// largest is wanted.
template <class Value, bool maximum>
struct IntegersInOne {
  static constexpr Index at_once = 2;
  static constexpr bool uses_operands_again = true;

  template <class D, class V>
  static HWY_INLINE auto in_order(D d, V v) {
    const hn::Repartition<std::uint64_t, D> both;
    const hn::Repartition<std::int64_t, D> order;
    constexpr std::uint64_t flipped = maximum ? 0x7fffffffU : 0x80000000U;
    auto swapped = hn::BitCast(both, hn::Reverse2(d, v));
    if constexpr (sizeof(Value) == 2) {  // the value is followed by padding, for which 0 is taken
      const hn::Repartition<std::uint8_t, D> bytes;
      constexpr std::uint8_t none = 0x80;
      alignas(16) static constexpr std::uint8_t from[] = {4,  5,  6,  7,  none, none, 0, 1,
                                                          12, 13, 14, 15, none, none, 8, 9};
      swapped = hn::BitCast(both, hn::TableLookupBytesOr0(hn::BitCast(bytes, v), hn::LoadDup128(bytes, from)));
    }
    return hn::BitCast(order, hn::Xor(swapped, hn::Set(both, flipped)));
  }

  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    const hn::Repartition<std::int64_t, D> order;
    const auto order_a = in_order(d, a);
    const auto order_b = in_order(d, b);
    const auto taken = maximum ? hn::Gt(order_a, order_b) : hn::Lt(order_a, order_b);
    if constexpr (sizeof(Value) == 2) {
      const hn::RepartitionToWide<hn::RebindToUnsigned<D>> both;
      a = fields_of(d, hn::Set(both, 0xffffffff0000ffffU), a, b);
    }
    return hn::BitCast(d, hn::IfThenElse(taken, hn::BitCast(order, a), hn::BitCast(order, b)));
  }
};

/// Whether indices are less where it is asked, in lanes that hold some. Lanes of 64 bits hold an int, which is doubled
/// to be compared, and padding.
template <class PairIndex, class D, class M, class V>
HWY_INLINE M less_index(D d, M where, V a, V b) {
  if constexpr (std::is_floating_point_v<PairIndex>) {
    return less_where(d, where, a, b);
  } else {
    const hn::RebindToSigned<D> lanes;
    const hn::Repartition<std::int32_t, D> indices;
    auto index_a = hn::BitCast(indices, a);
    auto index_b = hn::BitCast(indices, b);
    if constexpr (sizeof(hn::TFromD<D>) == 8) {
      index_a = hn::DupEven(index_a);
      index_b = hn::DupEven(index_b);
    }
    const auto less =
        less_where(lanes, hn::RebindMask(lanes, where), hn::BitCast(lanes, index_a), hn::BitCast(lanes, index_b));
    return hn::RebindMask(d, less);
  }
}

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
/// The even lanes of each 16 bytes of two vectors, and the odd ones; InterleaveLower and -Upper undo it.
template <class D, class V>
HWY_INLINE V even_lanes(D d, V v0, V v1) {
  constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::InterleaveLower(d, v0, v1);
  } else if constexpr (bytes <= 16) {
    return hn::ConcatEven(d, v1, v0);
  } else {
#if HWY_TARGET == HWY_AVX3
    if constexpr (bytes == 64) return V{_mm512_shuffle_ps(v0.raw, v1.raw, 0x88)};
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    if constexpr (bytes == 32) return V{_mm256_shuffle_ps(v0.raw, v1.raw, 0x88)};
#endif
  }
}

template <class D, class V>
HWY_INLINE V odd_lanes(D d, V v0, V v1) {
  constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::InterleaveUpper(d, v0, v1);
  } else if constexpr (bytes <= 16) {
    return hn::ConcatOdd(d, v1, v0);
  } else {
#if HWY_TARGET == HWY_AVX3
    if constexpr (bytes == 64) return V{_mm512_shuffle_ps(v0.raw, v1.raw, 0xdd)};
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    if constexpr (bytes == 32) return V{_mm256_shuffle_ps(v0.raw, v1.raw, 0xdd)};
#endif
  }
}
#endif

/// Lanes of 64 bits, of which all hold the index of a pair with padding, or the odd ones.
template <class D, class V>
HWY_INLINE V indices_of(D d, V a, V b) {
  const hn::RebindToUnsigned<D> bits;
  return fields_of(d, hn::Set(bits, 0xffffffffU), a, b);
}
template <class D, class V>
HWY_INLINE V values_and_indices_of(D d, V a, V b) {
  const hn::RebindToUnsigned<D> bits;
  return fields_of(d, hn::OddEven(hn::Set(bits, 0xffffffffU), hn::Set(bits, ~std::uint64_t{0})), a, b);
}

/// Pairs of two lanes: the even one is compared, the odd one where these are equal.
template <class Pair, bool maximum>
struct InTwoLanes {
  using PairIndex = decltype(Pair::index);
  static constexpr Index at_once = 2;
  static constexpr bool uses_operands_again = true;

  template <class V>
  static HWY_INLINE auto before(V a, V b) {
    return maximum ? hn::Gt(a, b) : hn::Lt(a, b);
  }

  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    // An index is never compared as a value: as a floating-point number it may be a NaN, for which programs have traps.
    const V value_a = hn::DupEven(a);
    const V value_b = hn::DupEven(b);
    const auto tie_won = less_index<PairIndex>(d, hn::Eq(value_a, value_b), hn::DupOdd(a), hn::DupOdd(b));
    if constexpr (has_padding<Pair>) a = values_and_indices_of(d, a, b);
    return hn::IfThenElse(hn::Or(before(value_a, value_b), tie_won), a, b);
  }

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
  /// a where one of the masks says so. Choosing twice is faster than joining masks where these have their own
  /// registers.
  template <class M, class V>
  static HWY_INLINE V chosen(M won, M tie_won, V a, V b) {
    if constexpr (has_mask_registers) {
      return hn::IfThenElse(tie_won, a, hn::IfThenElse(won, a, b));
    } else {
      return hn::IfThenElse(hn::Or(won, tie_won), a, b);
    }
  }

  template <class D, class V>
  static HWY_INLINE void of_two(D d, V a0, V a1, V b0, V b1, V& out0, V& out1) {
    if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) < 16) {  // beyond them would be indices, and be compared
      out0 = of(d, a0, b0);
      out1 = of(d, a1, b1);
      return;
    }
    const V value_a = even_lanes(d, a0, a1);
    const V value_b = even_lanes(d, b0, b1);
    const V index_a = odd_lanes(d, a0, a1);
    const V index_b = odd_lanes(d, b0, b1);
    const auto won = before(value_a, value_b);
    const auto tie_won = less_index<PairIndex>(d, hn::Eq(value_a, value_b), index_a, index_b);
    const V value = chosen(won, tie_won, value_a, value_b);
    V index_or_padding = index_a;
    if constexpr (has_padding<Pair>) index_or_padding = indices_of(d, index_a, index_b);
    const V index = chosen(won, tie_won, index_or_padding, index_b);
    out0 = hn::InterleaveLower(d, value, index);
    out1 = hn::InterleaveUpper(d, value, index);
  }
#endif
};

template <class Pair, bool maximum>
ReduceKernels kernels_of_pair() {
  using Value = decltype(Pair::value);
  if constexpr (std::is_same_v<Value, long double>) {
    return {};
  } else if constexpr (std::is_integral_v<Value> && sizeof(Pair) == 8) {
    return kernels<IntegersInOne<Value, maximum>, std::int32_t, 2>;
  } else {
    return kernels<InTwoLanes<Pair, maximum>, Value, 2>;
  }
}

template <class T>
ReduceKernels kernels_of(ReduceOperation operation) {
  if constexpr (is_pair<T>) {
    if (operation == ReduceOperation::maxloc) return kernels_of_pair<T, true>();
    if (operation == ReduceOperation::minloc) return kernels_of_pair<T, false>();
  }
  return {};
}

}  // namespace

PLAIT_SIMD_REDUCE_FAMILY_OF_TARGET(pairs)

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

PLAIT_SIMD_REDUCE_FAMILY(pairs)

}  // namespace plait::simd
#endif
