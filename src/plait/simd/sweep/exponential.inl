// Powers of 2 of vectors. Included once for each of Highway's targets, after <hwy/highway.h>.
#if defined(PLAIT_SIMD_EXPONENTIAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLAIT_SIMD_EXPONENTIAL_INL
#undef PLAIT_SIMD_EXPONENTIAL_INL
#else
#define PLAIT_SIMD_EXPONENTIAL_INL
#endif

#include <array>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// The numbers of the reduction y = k + r, |r| <= 1/2. Added to a number, `round` leaves its nearest integer in the low
/// bits. The polynomials interpolate (2^r - 1) / r at Chebyshev's nodes: the relative error of 2^r is 2.1e-17 (double)
/// and 9.2e-9 (float) at most.
template <class A>
struct PowerNumbers;
template <>
struct PowerNumbers<double> {
  using Bits = std::uint64_t;
  static constexpr double round = 0x1.8p+52;
  static constexpr double least = -1080;  // 2^least rounds to 0
  static constexpr double greatest = 1025;
  static constexpr int significand_bits = 52;
  static constexpr Bits twice_bias = 2 * 1023;
  static constexpr std::array<double, 11> coefficients = {
      0x1.62e42fefa39efp-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d704a0c2p-5,  0x1.3b2ab6fba1ddap-7,
      0x1.5d87fe78a5276p-10, 0x1.430913096fd9fp-13, 0x1.ffcbfc670dcd4p-17, 0x1.62bfd47773353p-20,
      0x1.b524fae627834p-24, 0x1.e6063f7217bc6p-28, 0x1.e9d3fe3952179p-32};
};
template <>
struct PowerNumbers<float> {
  using Bits = std::uint32_t;
  static constexpr float round = 0x1.8p+23F;
  static constexpr float least = -152;
  static constexpr float greatest = 129;
  static constexpr int significand_bits = 23;
  static constexpr Bits twice_bias = 2 * 127;
  static constexpr std::array<float, 6> coefficients = {0x1.62e43p-1F,  0x1.ebfbep-3F,  0x1.c6af6cp-5F,
                                                        0x1.3b2a54p-7F, 0x1.5f089p-10F, 0x1.44138ap-13F};
};

/// c[0] r + c[1] r^2 + ...
template <class D, class V, class A, std::size_t n>
HWY_INLINE V polynomial(D d, V r, const std::array<A, n>& c) {
  V p = hn::Set(d, c[n - 1]);
  for (std::size_t k = n - 1; k > 0; --k) p = hn::MulAdd(p, r, hn::Set(d, c[k - 1]));
  return hn::Mul(p, r);
}

/// 2^y to 5.6e-16 (double) or 1.5e-7 (float) relative where the result is no subnormal number, and to its last bit or
/// so where it is; 0 and infinity where they are beyond the range. A NaN gives a NaN.
template <class D, class V>
HWY_INLINE V power_of_2(D d, V y) {
  using A = hn::TFromD<D>;
  using Numbers = PowerNumbers<A>;
  const hn::RebindToUnsigned<D> bits;
  y = hn::Min(hn::Set(d, Numbers::greatest), hn::Max(hn::Set(d, Numbers::least), y));
  const V shifted = hn::Add(y, hn::Set(d, Numbers::round));
  const V r = hn::Sub(y, hn::Sub(shifted, hn::Set(d, Numbers::round)));
  const V one_and_more = hn::Add(polynomial(d, r, Numbers::coefficients), hn::Set(d, A{1}));
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
constexpr int sixteenths_down = 4 << 4 | _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// The same with 2^(i/16) from a table in registers, i/16 the last sixteenth up to y, so that a polynomial of degree 6
/// (3 for floats) will do, which interpolates between 0 and 1/16: to 2.9e-17 (5.3e-9). What is beyond the range needs
/// no care: infinities have no remainder, and scaling by 2^floor(y) finds by itself what is too great or too small.
template <class D>
HWY_INLINE hn::Vec512<double> power_of_2(D d, hn::Vec512<double> y) {
  const auto low =
      _mm512_setr_pd(0x1.0p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0,
                     0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0);
  const auto high =
      _mm512_setr_pd(0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
                     0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0);
  constexpr std::array<double, 6> coefficients = {0x1.62e42fefa39ebp-1, 0x1.ebfbdff830eb4p-3,  0x1.c6b08d62f5e70p-5,
                                                  0x1.3b2ac53057331p-7, 0x1.5d7a510a65329p-10, 0x1.49182b11a8828p-13};
  constexpr double round_to_sixteenths = 0x1.8p+48;  // whose number modulo 16 is then in the last four bits
  using V = hn::Vec512<double>;
  const auto shifted =
      _mm512_add_round_pd(y.raw, _mm512_set1_pd(round_to_sixteenths), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  const V p = polynomial(d, V{_mm512_reduce_pd(y.raw, sixteenths_down)}, coefficients);
  const V root{_mm512_permutex2var_pd(low, _mm512_castpd_si512(shifted), high)};
  return V{_mm512_scalef_pd(hn::MulAdd(root, p, root).raw, y.raw)};  // which rounds y down
}

template <class D>
HWY_INLINE hn::Vec512<float> power_of_2(D d, hn::Vec512<float> y) {
  const auto roots =
      _mm512_setr_ps(0x1.0p+0F, 0x1.0b5586p+0F, 0x1.172b84p+0F, 0x1.2387a6p+0F, 0x1.306fep+0F, 0x1.3dea64p+0F,
                     0x1.4bfdaep+0F, 0x1.5ab07ep+0F, 0x1.6a09e6p+0F, 0x1.7a1148p+0F, 0x1.8ace54p+0F, 0x1.9c4918p+0F,
                     0x1.ae89fap+0F, 0x1.c199bep+0F, 0x1.d5818ep+0F, 0x1.ea4afap+0F);
  constexpr std::array<float, 3> coefficients = {0x1.62e432p-1F, 0x1.ebf0a8p-3F, 0x1.ce262p-5F};
  constexpr float round_to_sixteenths = 0x1.8p+19F;
  using V = hn::Vec512<float>;
  const auto shifted =
      _mm512_add_round_ps(y.raw, _mm512_set1_ps(round_to_sixteenths), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  const V p = polynomial(d, V{_mm512_reduce_ps(y.raw, sixteenths_down)}, coefficients);
  const V root{_mm512_permutexvar_ps(_mm512_castps_si512(shifted), roots)};
  return V{_mm512_scalef_ps(hn::MulAdd(root, p, root).raw, y.raw)};
}
#endif

}  // namespace
}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
