// exp of vectors. Included once for each of Highway's targets, after <hwy/highway.h>.
#if defined(PLAIT_SIMD_EXPONENTIAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLAIT_SIMD_EXPONENTIAL_INL
#undef PLAIT_SIMD_EXPONENTIAL_INL
#else
#define PLAIT_SIMD_EXPONENTIAL_INL
#endif

#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// The numbers of the reduction x = k ln 2 + r, |r| <= ln(2) / 2. Added to a number, `round` leaves its nearest integer
/// in the low bits. The polynomials interpolate exp at Chebyshev's nodes: their relative error is 3.4e-17 (double) and
/// 1.1e-8 (float) at most.
template <class A>
struct ExponentialNumbers;
template <>
struct ExponentialNumbers<double> {
  using Bits = std::uint64_t;
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double round = 0x1.8p+52;
  static constexpr double ln2_high = 0x1.62e42feep-1;  // times k without rounding
  static constexpr double ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double least = -746;  // the exponential of which rounds to 0
  static constexpr double greatest = 710;
  static constexpr int significand_bits = 52;
  static constexpr Bits twice_bias = 2 * 1023;
};
template <>
struct ExponentialNumbers<float> {
  using Bits = std::uint32_t;
  static constexpr float log2_e = 0x1.715476p+0F;
  static constexpr float round = 0x1.8p+23F;
  static constexpr float ln2_high = 0x1.62e4p-1F;
  static constexpr float ln2_low = 0x1.7f7d1cp-20F;
  static constexpr float least = -104.5F;
  static constexpr float greatest = 89;
  static constexpr int significand_bits = 23;
  static constexpr Bits twice_bias = 2 * 127;
};

/// exp(r) - 1 for |r| <= ln(2) / 2.
template <class D, class V>
HWY_INLINE V exp_minus_1(D d, V r) {
  const auto constant = [d](double number) HWY_ATTR { return hn::Set(d, static_cast<hn::TFromD<D>>(number)); };
  V p;
  if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
    p = hn::MulAdd(constant(0x1.af236aac51d05p-26), r, constant(0x1.2880411bad1aap-22));
    p = hn::MulAdd(p, r, constant(0x1.71de17e40edfep-19));
    p = hn::MulAdd(p, r, constant(0x1.a019c9a5652d3p-16));
    p = hn::MulAdd(p, r, constant(0x1.a01a01a4b322fp-13));
    p = hn::MulAdd(p, r, constant(0x1.6c16c1738ff55p-10));
    p = hn::MulAdd(p, r, constant(0x1.1111111110e6ap-7));
    p = hn::MulAdd(p, r, constant(0x1.5555555554cb7p-5));
    p = hn::MulAdd(p, r, constant(0x1.5555555555555p-3));
    p = hn::MulAdd(p, r, constant(0.5));
  } else {
    p = hn::MulAdd(constant(0x1.6d1109p-10), r, constant(0x1.120b6ep-7));
    p = hn::MulAdd(p, r, constant(0x1.555519p-5));
    p = hn::MulAdd(p, r, constant(0x1.5554dcp-3));
    p = hn::MulAdd(p, r, constant(0.5));
  }
  return hn::MulAdd(hn::Mul(p, r), r, r);
}

/// exp(x) to 5.6e-16 (double) or 1.5e-7 (float) relative where the result is no subnormal number, and to its last bit
/// or so where it is; 0 and infinity where they are beyond the range. A NaN gives a NaN.
template <class D, class V>
HWY_INLINE V exp_of(D d, V x) {
  using A = hn::TFromD<D>;
  using Numbers = ExponentialNumbers<A>;
  const hn::RebindToUnsigned<D> bits;
  x = hn::Min(hn::Set(d, Numbers::greatest), hn::Max(hn::Set(d, Numbers::least), x));
  const V shifted = hn::MulAdd(x, hn::Set(d, Numbers::log2_e), hn::Set(d, Numbers::round));
  const V k = hn::Sub(shifted, hn::Set(d, Numbers::round));
  V r = hn::NegMulAdd(k, hn::Set(d, Numbers::ln2_high), x);
  r = hn::NegMulAdd(k, hn::Set(d, Numbers::ln2_low), r);
  const V one_and_more = hn::Add(exp_minus_1(d, r), hn::Set(d, A{1}));
  // 2^k as a product of two, as it may itself be beyond the range although the result is not.
  const auto rounded = hn::Sub(hn::BitCast(bits, shifted), hn::BitCast(bits, hn::Set(d, Numbers::round)));
  const auto biased = hn::Add(rounded, hn::Set(bits, Numbers::twice_bias));
  const auto half = hn::ShiftRight<1>(biased);
  const auto rest = hn::Sub(biased, half);
  const auto power = [&](auto exponent)
                         HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<Numbers::significand_bits>(exponent)); };
  return hn::Mul(hn::Mul(one_and_more, power(half)), power(rest));
}

#if HWY_TARGET == HWY_AVX3
/// The same with 2^(i/16) from a table in two registers, so that a polynomial of degree 6 will do.
template <class D>
HWY_INLINE hn::Vec512<double> exp_of(D d, hn::Vec512<double> x) {
  const auto low =
      _mm512_setr_pd(0x1.0p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0,
                     0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0);
  const auto high =
      _mm512_setr_pd(0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
                     0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0);
  using V = hn::Vec512<double>;
  using Numbers = ExponentialNumbers<double>;
  const hn::RebindToUnsigned<D> bits;
  x = hn::Min(hn::Set(d, Numbers::greatest), hn::Max(hn::Set(d, Numbers::least), x));
  const V shifted = hn::MulAdd(x, hn::Set(d, 16 * Numbers::log2_e), hn::Set(d, Numbers::round));
  const V k = hn::Sub(shifted, hn::Set(d, Numbers::round));
  V r = hn::NegMulAdd(k, hn::Set(d, 0x1.62e42fefa2p-5), x);
  r = hn::NegMulAdd(k, hn::Set(d, 0x1.9ef35793c7673p-45), r);
  V p = hn::MulAdd(hn::Set(d, 0x1.6c17896160b1ep-10), r, hn::Set(d, 0x1.1111d90669f41p-7));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.555555553d4f9p-5));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.555555552549dp-3));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5));
  p = hn::MulAdd(hn::Mul(p, r), r, r);
  const V root{_mm512_permutex2var_pd(low, hn::BitCast(bits, shifted).raw, high)};
  const V product = hn::MulAdd(root, p, root);
  return V{_mm512_scalef_pd(product.raw, hn::Mul(k, hn::Set(d, 0.0625)).raw)};  // which rounds k / 16 down
}

template <class D>
HWY_INLINE hn::Vec512<float> exp_of(D d, hn::Vec512<float> x) {
  using V = hn::Vec512<float>;
  using Numbers = ExponentialNumbers<float>;
  x = hn::Min(hn::Set(d, Numbers::greatest), hn::Max(hn::Set(d, Numbers::least), x));
  const V k = hn::Round(hn::Mul(x, hn::Set(d, Numbers::log2_e)));
  V r = hn::NegMulAdd(k, hn::Set(d, Numbers::ln2_high), x);
  r = hn::NegMulAdd(k, hn::Set(d, Numbers::ln2_low), r);
  const V one_and_more = hn::Add(exp_minus_1(d, r), hn::Set(d, 1.0F));
  return V{_mm512_scalef_ps(one_and_more.raw, k.raw)};
}
#endif

}  // namespace
}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
