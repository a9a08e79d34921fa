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
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_AVX3
/// The numbers of the reduction y = k + r, |r| <= 1/2. Added to a number, `round` leaves its nearest integer in the low
/// bits. The polynomials interpolate (2^r - 1) / r at Chebyshev's nodes: the relative error of 2^r is 2.1e-17 (double)
/// and 9.2e-9 (float) at most.
template <class A>
struct PowerNumbers;
template <>
struct PowerNumbers<double> {
  using Bits = std::uint64_t;
  static constexpr double round = 0x1.8p+52;
  static constexpr double least = -1022;  // 2^least is the least normal number
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
  static constexpr float least = -126;
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

/// 2^y to 5.6e-16 (double) or 1.5e-7 (float) relative; 0 up to the least normal number, and infinity beyond the range.
/// A NaN gives a NaN.
template <class D, class V>
HWY_INLINE V power_of_2(D d, V y) {
  using A = hn::TFromD<D>;
  using Numbers = PowerNumbers<A>;
  const hn::RebindToUnsigned<D> bits;
  y = hn::Min(hn::Set(d, Numbers::greatest), hn::Max(hn::Set(d, Numbers::least), y));
  const V shifted = hn::Add(y, hn::Set(d, Numbers::round));
  const V r = hn::Sub(y, hn::Sub(shifted, hn::Set(d, Numbers::round)));
  // What would be subnormal is 0 from here on: to find that in a product takes Intel's processors 60 times as long.
  const V one_and_more = hn::IfThenZeroElse(hn::Le(y, hn::Set(d, Numbers::least)),
                                            hn::Add(polynomial(d, r, Numbers::coefficients), hn::Set(d, A{1})));
  // 2^k as a product of two, as it may itself be beyond the range although the result is not.
  const auto rounded = hn::Sub(hn::BitCast(bits, shifted), hn::BitCast(bits, hn::Set(d, Numbers::round)));
  const auto biased = hn::Add(rounded, hn::Set(bits, Numbers::twice_bias));
  const auto half = hn::ShiftRight<1>(biased);
  const auto rest = hn::Sub(biased, half);
  const auto power = [&](auto exponent)
                         HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<Numbers::significand_bits>(exponent)); };
  return hn::Mul(hn::Mul(one_and_more, power(half)), power(rest));
}

template <std::size_t count, class D>
HWY_INLINE void take_powers_of_2(D d, hn::VFromD<D>* y) {
  for (std::size_t n = 0; n < count; ++n) y[n] = power_of_2(d, y[n]);
}

#else
constexpr std::array<double, 16> sixteenth_powers = {
    0x1.0p+0,             0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};

/// unit 2^(i/16), as vectors load it.
template <class A>
struct alignas(64) Roots {
  std::array<A, 16> of{};
  A least;  // unit 2^least is the least normal number

  constexpr explicit Roots(double unit = 1, double log_of_unit = 0)
      : least(static_cast<A>((std::is_same_v<A, double> ? -1022 : -126) - log_of_unit)) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i] = static_cast<A>(unit * sixteenth_powers[i]);
  }
};
template <class A>
constexpr Roots<A> roots_of_2;

/// What 2^y takes of y = k + i/16 + r, where i/16 is the last sixteenth up to y, and the polynomials for 0 <= r < 1/16.
struct Sixteenths {
  static constexpr int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
  static constexpr int sixteenths_down = 4 << 4 | down;
  using Doubles = hn::Vec512<double>;
  using Floats = hn::Vec512<float>;

  static HWY_INLINE Doubles rest(Doubles y) { return Doubles{_mm512_reduce_pd(y.raw, sixteenths_down)}; }
  static HWY_INLINE Floats rest(Floats y) { return Floats{_mm512_reduce_ps(y.raw, sixteenths_down)}; }

  /// The number of the sixteenth modulo 16 is in the last four bits of a sum with 1.5 times a power of 2.
  static HWY_INLINE Doubles root(Doubles y, const Roots<double>& roots) {
    const auto i = _mm512_castpd_si512(_mm512_add_round_pd(y.raw, _mm512_set1_pd(0x1.8p+48), down));
    return Doubles{_mm512_permutex2var_pd(_mm512_load_pd(&roots.of[0]), i, _mm512_load_pd(&roots.of[8]))};
  }
  static HWY_INLINE Floats root(Floats y, const Roots<float>& roots) {
    const auto i = _mm512_castps_si512(_mm512_add_round_ps(y.raw, _mm512_set1_ps(0x1.8p+19F), down));
    return Floats{_mm512_permutexvar_ps(i, _mm512_load_ps(&roots.of[0]))};
  }

  /// p 2^floor(y). What would be subnormal is left out: for such results, and those that round to 0, Intel's processors
  /// take 60 times as long, and where epsilon is small there are many.
  static HWY_INLINE Doubles scaled(Doubles p, Doubles y, const Roots<double>& roots) {
    const auto is_more = _mm512_cmp_pd_mask(y.raw, _mm512_set1_pd(roots.least), _CMP_NLE_UQ);
    return Doubles{_mm512_maskz_scalef_pd(is_more, p.raw, y.raw)};
  }
  static HWY_INLINE Floats scaled(Floats p, Floats y, const Roots<float>& roots) {
    const auto is_more = _mm512_cmp_ps_mask(y.raw, _mm512_set1_ps(roots.least), _CMP_NLE_UQ);
    return Floats{_mm512_maskz_scalef_ps(is_more, p.raw, y.raw)};
  }

  template <class A>
  static constexpr auto coefficients = [] {
    if constexpr (std::is_same_v<A, double>) {
      return std::array{0x1.62e42fefa39ebp-1, 0x1.ebfbdff830eb4p-3,  0x1.c6b08d62f5e70p-5,
                        0x1.3b2ac53057331p-7, 0x1.5d7a510a65329p-10, 0x1.49182b11a8828p-13};
    } else {
      return std::array{0x1.62e432p-1F, 0x1.ebf0a8p-3F, 0x1.ce262p-5F};
    }
  }();
};

/// y[n] ← unit[n] 2^y[n], with roots(n) that have the unit. By a table of roots a polynomial of degree 6 (3 for floats)
/// will do, which interpolates to 2.9e-17 (5.3e-9). What is beyond the range needs no more care: infinities have no
/// rest, and scaling by 2^floor(y) finds by itself what is too great. Step by step for all: none waits for the one
/// before.
template <std::size_t count, class D, class RootsOf>
HWY_INLINE void take_powers_of_2(D d, hn::VFromD<D>* y, const RootsOf& roots) {
  using A = hn::TFromD<D>;
  constexpr auto& c = Sixteenths::coefficients<A>;
  hn::VFromD<D> r[count];
  hn::VFromD<D> p[count];
  for (std::size_t n = 0; n < count; ++n) r[n] = Sixteenths::rest(y[n]);
  for (std::size_t n = 0; n < count; ++n) p[n] = hn::Set(d, c.back());
  for (std::size_t k = c.size() - 1; k > 0; --k) {
    for (std::size_t n = 0; n < count; ++n) p[n] = hn::MulAdd(p[n], r[n], hn::Set(d, c[k - 1]));
  }
  for (std::size_t n = 0; n < count; ++n) p[n] = hn::Mul(p[n], r[n]);
  for (std::size_t n = 0; n < count; ++n) {
    const auto root = Sixteenths::root(y[n], roots(n));
    p[n] = hn::MulAdd(root, p[n], root);
  }
  for (std::size_t n = 0; n < count; ++n) y[n] = Sixteenths::scaled(p[n], y[n], roots(n));
}
template <std::size_t count, class D>
HWY_INLINE void take_powers_of_2(D d, hn::VFromD<D>* y) {
  take_powers_of_2<count>(d, y, [](std::size_t) -> auto& { return roots_of_2<hn::TFromD<D>>; });
}
template <class D, class V>
HWY_INLINE V power_of_2(D d, V y) {
  take_powers_of_2<1>(d, &y);
  return y;
}
#endif

}  // namespace
}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
