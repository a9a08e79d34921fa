#include "plait/simd/float16.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace plait::simd {
namespace {

/// A 16-bit format as the standard defines it: its significand has `digits` bits after the point.
struct Format {
  int digits;
  int bias;

  [[nodiscard]] unsigned infinity() const { return 0x7fffU >> digits << digits; }

  /// Of a number that is not negative; of infinity, what would follow the largest number.
  [[nodiscard]] double value(unsigned bits) const {
    const auto exponent = static_cast<int>(bits >> digits);
    const auto fraction = static_cast<int>(bits & ((1U << digits) - 1));
    if (exponent == 0) return std::ldexp(fraction, 1 - bias - digits);
    return std::ldexp(fraction + (1 << digits), exponent - bias - digits);
  }
};

constexpr Format binary16{10, 15};
constexpr Format brain{7, 127};
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class Number>
void expect_exact_floats(const Format& format) {
  for (unsigned bits = 0; bits < format.infinity(); ++bits) {
    const auto exact = static_cast<float>(format.value(bits));
    ASSERT_EQ(to_float(Number{static_cast<std::uint16_t>(bits)}), exact) << bits;
    const float negative = to_float(Number{static_cast<std::uint16_t>(bits | 0x8000U)});
    ASSERT_EQ(negative, -exact) << bits;
    ASSERT_TRUE(std::signbit(negative)) << bits;
  }
  EXPECT_EQ(to_float(Number{static_cast<std::uint16_t>(format.infinity())}), infinity);
  EXPECT_EQ(to_float(Number{static_cast<std::uint16_t>(format.infinity() | 0x8000U)}), -infinity);
  for (unsigned bits = format.infinity() + 1; bits < 0x8000; ++bits) {
    ASSERT_TRUE(std::isnan(to_float(Number{static_cast<std::uint16_t>(bits)}))) << bits;
    ASSERT_TRUE(std::isnan(to_float(Number{static_cast<std::uint16_t>(bits | 0x8000U)}))) << bits;
  }
}

/// Every number, the midpoint between it and the next one, and the floats beside that.
template <class Round>
void expect_nearest(const Format& format, Round round) {
  for (unsigned bits = 0; bits < format.infinity(); ++bits) {
    const auto exact = static_cast<float>(format.value(bits));
    const auto middle = static_cast<float>((format.value(bits) + format.value(bits + 1)) / 2);
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(round(exact).bits, bits);
    ASSERT_EQ(round(-exact).bits, bits | 0x8000U);
    ASSERT_EQ(round(middle).bits, even) << bits;
    ASSERT_EQ(round(-middle).bits, even | 0x8000U) << bits;
    ASSERT_EQ(round(std::nextafter(middle, 0.0F)).bits, bits);
    ASSERT_EQ(round(std::nextafter(middle, infinity)).bits, bits + 1);
  }
  EXPECT_EQ(round(infinity).bits, format.infinity());
  EXPECT_EQ(round(std::numeric_limits<float>::max()).bits, format.infinity());
  EXPECT_EQ(round(std::numeric_limits<float>::denorm_min()).bits, 0);
  const unsigned quiet = format.infinity() | 1U << (format.digits - 1);
  EXPECT_EQ(round(nan).bits & quiet, quiet);
}

TEST(Float16, IsAFloatExactly) { expect_exact_floats<Float16>(binary16); }
TEST(Float16, IsTheNearestOfAFloatAndTheEvenOneOfTwo) { expect_nearest(binary16, to_float16); }
TEST(BFloat16, IsAFloatExactly) { expect_exact_floats<BFloat16>(brain); }
TEST(BFloat16, IsTheNearestOfAFloatAndTheEvenOneOfTwo) { expect_nearest(brain, to_bfloat16); }

TEST(BFloat16, IsOffByUpToTwoToTheMinus8OfAFloat) {
  float most = 0;
  for (float x = 1; x < 2; x += 0x1p-12F) most = std::max(most, std::abs(to_float(to_bfloat16(x)) - x) / x);
  EXPECT_LT(most, 0x1p-8F);
  EXPECT_GT(most, 0.99F * 0x1p-8F);
}

TEST(BFloat16, KeepsNaNWhoseUpperHalfLooksLikeInfinity) {
  const auto almost_infinity = std::bit_cast<float>(0x7f800001U);
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(almost_infinity))));
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::bit_cast<float>(0xffffffffU)))));
}

}  // namespace
}  // namespace plait::simd
