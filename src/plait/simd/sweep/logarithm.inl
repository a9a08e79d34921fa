// Logarithms and powers of vectors. Included once for each of Highway's targets, after exponential.inl.
#if defined(PLAIT_SIMD_LOGARITHM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLAIT_SIMD_LOGARITHM_INL
#undef PLAIT_SIMD_LOGARITHM_INL
#else
#define PLAIT_SIMD_LOGARITHM_INL
#endif

#include <array>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// log2(x) to a few roundings, for finite x > 0: k + log2(m), x = 2^k m, m between the roots of 1/2 and 2, by the
/// series of the logarithm of (1 + s) / (1 - s), s = (m - 1) / (m + 1): a remainder of 1e-17 (double) or 2e-9 (float).
template <class D, class V>
HWY_INLINE V logarithm_of_2(D d, V x) {
  using A = hn::TFromD<D>;
  constexpr int significand_bits = std::numeric_limits<A>::digits - 1;
  constexpr int terms = sizeof(A) == sizeof(double) ? 11 : 6;
  constexpr auto two_over_ln_2 = static_cast<A>(2 * 0x1.71547652b82fep+0);
  const hn::RebindToSigned<D> bits;
  // A subnormal number has no leading bit.
  const auto is_small = hn::Lt(x, hn::Set(d, std::numeric_limits<A>::min()));
  const A unit = static_cast<A>(std::uint64_t{1} << (significand_bits + 1));
  x = hn::IfThenElse(is_small, hn::Mul(x, hn::Set(d, unit)), x);
  const auto pattern = hn::BitCast(bits, x);
  const auto root = hn::BitCast(bits, hn::Set(d, static_cast<A>(0x1.6a09e667f3bcdp-1)));
  const auto k = hn::ShiftRight<significand_bits>(hn::Sub(pattern, root));
  const V m = hn::BitCast(d, hn::Sub(pattern, hn::ShiftLeft<significand_bits>(k)));
  const V exponent =
      hn::Sub(hn::ConvertTo(d, k), hn::IfThenElseZero(is_small, hn::Set(d, static_cast<A>(significand_bits + 1))));
  const V one = hn::Set(d, A{1});
  const V s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const V square = hn::Mul(s, s);
  V sum = hn::Set(d, two_over_ln_2 / A{2 * terms - 1});
  for (int n = terms - 2; n >= 0; --n)
    sum = hn::MulAdd(sum, square, hn::Set(d, two_over_ln_2 / static_cast<A>(2 * n + 1)));
  return hn::MulAdd(s, sum, exponent);
}

/// x^p of finite x >= 0, p > 0: by products for small whole p, which are as exact as these, else as 2^(p log2 x), with
/// |p log2 x| roundings.
template <class D>
class Power {
 public:
  using A = hn::TFromD<D>;
  explicit Power(A p) : p_(p), whole_(p == std::floor(p) && p <= 64 ? static_cast<int>(p) : 0) {}

  template <class V>
  HWY_INLINE V of(D d, V x) const {
    if (whole_ == 0) {
      return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), power_of_2(d, hn::Mul(hn::Set(d, p_), logarithm_of_2(d, x))));
    }
    V result = hn::Set(d, A{1});
    for (int rest = whole_; true; x = hn::Mul(x, x)) {
      if (rest % 2 == 1) result = hn::Mul(result, x);
      rest /= 2;
      if (rest == 0) return result;
    }
  }

 private:
  A p_;
  int whole_;  // 0: it is none
};

}  // namespace
}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
