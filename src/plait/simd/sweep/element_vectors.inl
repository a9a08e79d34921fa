// Vectors of matrix elements as the numbers that they are computed with. Included once for each of Highway's targets,
// after <hwy/highway.h>.
#if defined(PLAIT_SIMD_ELEMENT_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLAIT_SIMD_ELEMENT_VECTORS_INL
#undef PLAIT_SIMD_ELEMENT_VECTORS_INL
#else
#define PLAIT_SIMD_ELEMENT_VECTORS_INL
#endif

#include <cstddef>
#include <type_traits>

#include "plait/base/index.hpp"
#include "plait/simd/cache_lines.hpp"
#include "plait/simd/row_block.hpp"

HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(number, first) for rows [first, first + number), the number being a constant: each of these, the largest
/// first, as often as so many rows are left.
template <std::size_t... numbers, class F>
HWY_INLINE void for_rows(Index rows, const F& f) {
  Index first = 0;
  const auto take = [&](auto number) HWY_ATTR {
    constexpr auto count = static_cast<Index>(number());
    for (; first + count <= rows; first += count) f(number, first);
  };
  (take(std::integral_constant<std::size_t, numbers>()), ...);
}

/// These rows of a block.
template <class T>
HWY_INLINE RowBlock<T> rows_of(const RowBlock<T>& block, Index first, Index rows) {
  return {block.data + first * block.leading_dimension, rows, block.columns, block.leading_dimension};
}

template <class D, class T>
HWY_INLINE hn::VFromD<D> load_as(D d, const T* from) {
  using A = hn::TFromD<D>;
  if constexpr (std::is_same_v<T, A>) {
    return hn::LoadU(d, from);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    const hn::RebindToUnsigned<D> wide;
    const hn::Rebind<std::uint16_t, D> narrow;
    const auto bits = hn::PromoteTo(wide, hn::LoadU(narrow, reinterpret_cast<const std::uint16_t*>(from)));
    return hn::BitCast(d, hn::ShiftLeft<16>(bits));
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
  }
}

template <class D, class T>
HWY_INLINE void store_as(D d, hn::VFromD<D> numbers, T* to) {
  using A = hn::TFromD<D>;
  if constexpr (std::is_same_v<T, A>) {
    hn::StoreU(numbers, d, to);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    // To nearest, ties to even, as `to_bfloat16`; NaNs are no elements of a matrix that is scaled.
    const hn::RebindToUnsigned<D> wide;
    const hn::RebindToSigned<D> wide_signed;
    const hn::Rebind<std::uint16_t, D> narrow;
    const auto bits = hn::BitCast(wide, numbers);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1U));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(wide, 0x7fffU))));
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(wide_signed, rounded)), narrow, reinterpret_cast<std::uint16_t*>(to));
  } else {
    const hn::Rebind<T, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, numbers), narrow, to);
  }
}

/// Twice as many elements as D has lanes, those of even and of odd columns apart: two operations for both instead of
/// two conversions.
template <class D>
struct EvenOdd {
  hn::VFromD<D> even;
  hn::VFromD<D> odd;
};

template <class D>
HWY_INLINE EvenOdd<D> load_even_odd(D d, const BFloat16* from) {
  const hn::RebindToUnsigned<D> words;
  const hn::Repartition<std::uint16_t, D> halves;
  const auto both = hn::BitCast(words, hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(from)));
  return {hn::BitCast(d, hn::ShiftLeft<16>(both)), hn::BitCast(d, hn::And(both, hn::Set(words, 0xffff0000U)))};
}

}  // namespace
}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
