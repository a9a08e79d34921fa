// Sums of addends of any size and kind, rounded once, once for each target: included after Highway by a file that
// `foreach_target.h` includes. The guard follows Highway's.
#if defined(PLAIT_SIMD_SUM_WITH_CARE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLAIT_SIMD_SUM_WITH_CARE_INL
#undef PLAIT_SIMD_SUM_WITH_CARE_INL
#else
#define PLAIT_SIMD_SUM_WITH_CARE_INL
#endif

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <hwy/highway.h>

#include "plait/simd/exact/exact_element.hpp"
#include "plait/simd/exact/two_sum.inl"
#include "plait/simd/targets.hpp"

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE V with_one_nan(D d, V v) {
  return hn::IfThenElse(hn::IsNaN(v), hn::Set(d, std::numeric_limits<hn::TFromD<D>>::quiet_NaN()), v);
}

/// sum + rest, rounded to odd: where there is a rest, the one of the two numbers around it whose last bit is set. `sum`
/// is rounded to nearest. Rounding the result in turn, to fewer places or after adding it to a number that is larger by
/// as much as two_sum's terms are, gives what rounding the exact sum gives.
template <class D, class V>
HWY_INLINE V rounded_to_odd(D d, V sum, V rest) {
  const hn::RebindToSigned<D> bits;
  const auto sum_bits = hn::BitCast(bits, sum);
  const auto less_if_signs_differ = hn::BroadcastSignBit(hn::Xor(sum_bits, hn::BitCast(bits, rest)));
  const auto odd = hn::Or(hn::Add(sum_bits, less_if_signs_differ), hn::Set(bits, 1));
  return hn::IfThenElse(hn::Ne(rest, hn::Zero(d)), hn::BitCast(d, odd), sum);
}

/// a + b, rounded to odd.
template <class D, class V>
HWY_INLINE V odd_sum(D d, V a, V b) {
  V rest;
  const V sum = two_sum(a, b, rest);
  return rounded_to_odd(d, sum, rest);
}

/// a + b + c + e, rounded to nearest among the numbers of type T, where each is at most half a unit in the last place
/// of the one before.
template <class T, class D, class V>
HWY_INLINE V rounded_sum(D d, V a, V b, V c, V e) {
  const V tail = odd_sum(d, b, odd_sum(d, c, e));
  if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
    return hn::Add(a, tail);
  } else {
    return hn::PromoteTo(d, hn::DemoteTo(hn::Rebind<T, D>(), odd_sum(d, a, tail)));
  }
}

/// The sum of those addends of a vector of elements that are not finite.
template <class T, class D>
HWY_NOINLINE hn::VFromD<D> special_sum(D d, Index i, Operands operands) {
  const auto zero = hn::Zero(d);
  auto sum = zero;
  for (const std::byte* operand : operands) {
    const auto x = load_real<T>(d, element_at<T>(operand, i));
    sum = hn::Add(sum, hn::IfThenElse(hn::Ne(hn::Sub(x, x), zero), x, zero));
  }
  return with_one_nan(d, sum);
}

/// Stores a vector of sums, but the exact ones in lanes where `done` is false.
template <class T, class D, class V, class M>
HWY_NOINLINE void store_some(D d, V sums, M done, Index i, Operands operands, T* out) {
  HWY_ALIGN double is_done[hn::MaxLanes(D())];
  HWY_ALIGN T results[hn::MaxLanes(D())];
  hn::StoreU(hn::IfThenElse(done, hn::Set(d, 1.0), hn::Zero(d)), d, is_done);
  store_real<T>(d, sums, results);
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (is_done[lane] == 0) results[lane] = exact_element<T>(i + static_cast<Index>(lane), operands);
  }
  std::copy_n(results, lanes, out + i);
}

/// The sums of a vector of elements from i on, with three sums of errors: what each of the sums of doubles loses is
/// summed up by the next. What the last one loses seldom bears on the rounding; where it may, and where a sum on the
/// way overflows, an element is summed up exactly.
template <class T, class D>
HWY_NOINLINE void sum_with_care(D d, Index i, Operands operands, T* out) {
  using V = hn::VFromD<D>;
  const V zero = hn::Zero(d);
  V sum = hn::Set(d, -0.0);  // stays -0 as long as there are only such
  V errors1 = zero;
  V errors2 = zero;
  V errors3 = zero;
  V lost = zero;  // at most, in magnitude
  for (const std::byte* operand : operands) {
    V error;
    sum = two_sum(sum, load_real<T>(d, element_at<T>(operand, i)), error);
    errors1 = two_sum(errors1, error, error);
    errors2 = two_sum(errors2, error, error);
    errors3 = two_sum(errors3, error, error);
    lost = hn::Add(lost, hn::Abs(error));
  }

  V a = sum;
  V b = errors1;
  V c = errors2;
  V e = errors3;
  auto certain = hn::Ne(zero, zero);
  for (int pass = 0; pass < 4 && !hn::AllTrue(d, certain); ++pass) {
    c = two_sum(c, e, e);
    b = two_sum(b, c, c);
    a = two_sum(a, b, b);
    certain = hn::And(hn::Eq(hn::Add(b, c), b), hn::Eq(hn::Add(c, e), c));
  }
  V result;
  if (hn::AllTrue(d, hn::Eq(lost, zero))) {
    result = rounded_sum<T>(d, a, b, c, e);
  } else {
    // Rounding is monotonic: between two numbers that are rounded to the same, all are.
    const V more = hn::Add(hn::Add(lost, lost), hn::Mul(hn::Abs(e), hn::Set(d, 0x1p-51)));
    const V doubt = hn::IfThenElse(hn::Eq(lost, zero), zero, more);
    result = rounded_sum<T>(d, a, b, c, hn::Add(e, doubt));
    certain = hn::And(certain, hn::Eq(rounded_sum<T>(d, a, b, c, hn::Sub(e, doubt)), result));
  }
  result = hn::IfThenElse(hn::Eq(result, zero), hn::IfThenElse(hn::Eq(sum, zero), sum, zero), result);

  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(hn::Sub(sum, sum), zero)))) {
    const V special = special_sum<T>(d, i, operands);
    const auto is_special = hn::Ne(special, zero);
    result = hn::IfThenElse(is_special, special, result);
    certain = hn::Or(certain, is_special);
  }
  if (HWY_LIKELY(hn::AllTrue(d, certain))) {
    store_real<T>(d, result, out + i);
  } else {
    store_some<T>(d, result, certain, i, operands, out);
  }
}

}  // namespace
}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
