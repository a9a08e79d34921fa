#include "plait/io/text/text_number.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"

#include "support/message_of.hpp"

namespace plait::io {
namespace {

using ::testing::HasSubstr;

double real(std::string_view text) { return take_real(text); }
Index integer(std::string_view text) { return take_integer(text); }

TEST(TakeReal, ReadsAllSpellings) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<std::string, double>> numbers{
      {"1", 1},
      {"+1", 1},
      {"-1.5", -1.5},
      {"  .5", 0.5},
      {"\t5.", 5},
      {"1e5", 1e5},
      {"1E+05", 1e5},
      {"1.D+03", 1e3},
      {"1.0d-5", 1e-5},
      {"-2.5D0", -2.5},
      {"1.5+103", 1.5e103},
      {"1.5-103", 1.5e-103},
      {"+.1D+2", 10},
      {"inf", infinity},
      {"-Inf", -infinity},
      {"+INF", infinity},
      {"4.9e-324", 4.9e-324},
      {"1e-400", 0},
      {"1D-5000", 0},
      {"0.1", 0.1},
      {"00012", 12},
      {"-0", 0},
      {"123456789012345678901234567890", 123456789012345678901234567890.0}};
  for (const auto& [text, number] : numbers) EXPECT_EQ(real(text), number) << text;
  EXPECT_TRUE(std::signbit(real("-0")));
  EXPECT_TRUE(std::isnan(real("nan")));
  EXPECT_TRUE(std::isnan(real("NaN")));
}

TEST(TakeReal, RefusesEverythingElse) {
  for (const std::string text : {"x", "--1", "+-1", "-", "+", ".", "e5", "D5", "1e", "1d", "1,5", "1_0", "0x10",
                                 "1.2.3", "1e5e5", "1e5d3", "1e5+3", "nano", "1f"}) {
    EXPECT_THAT(test::message_of<ArgumentError>([&] { return real(text); }),
                "expected a number, found \"" + text + "\"");
  }
  for (const std::string text : {"1e400", "-1e400", "1D5000"}) {
    EXPECT_THAT(test::message_of<ArgumentError>([&] { return real(text); }),
                "expected a number that a double can hold, found \"" + text + "\"");
  }
  EXPECT_THAT(test::message_of<ArgumentError>([] { return real("  "); }),
              "expected a number, found the end of the line");
  EXPECT_THAT(test::message_of<ArgumentError>([] { return real(std::string(1000, 'x')); }), HasSubstr("\"xxx"));
}

TEST(TakeReal, RoundsAsTheCLibraryDoes) {
  constexpr std::uint64_t seed = 20240611;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double mantissa = random_uniform(seed, 2 * i) - 0.5;
    const int exponent = static_cast<int>(random_bits(seed, 2 * i + 1) % 600) - 300;
    const auto digits = static_cast<int>(random_bits(seed, i) % 25);
    const auto text = fmt::format("{:.{}e}", std::ldexp(mantissa, exponent), digits);
    ASSERT_EQ(real(text), std::strtod(text.c_str(), nullptr)) << text << ", seed " << seed;
    auto fortran = text;
    fortran[fortran.find('e')] = 'D';
    ASSERT_EQ(real(fortran), real(text)) << fortran << ", seed " << seed;
  }
}

TEST(TakeInteger, ReadsAll64Bits) {
  EXPECT_EQ(integer(" 42 "), 42);
  EXPECT_EQ(integer("+7"), 7);
  EXPECT_EQ(integer("-0012"), -12);
  EXPECT_EQ(integer("9223372036854775807"), std::numeric_limits<Index>::max());
  EXPECT_EQ(integer("-9223372036854775808"), std::numeric_limits<Index>::min());
}

TEST(TakeInteger, RefusesEverythingElse) {
  for (const std::string text : {"x", "1.0", "1e3", "--1", "+-1", "+", "-", "0x10", "1,"}) {
    EXPECT_THAT(test::message_of<ArgumentError>([&] { return integer(text); }),
                "expected a whole number, found \"" + text + "\"");
  }
  EXPECT_THAT(test::message_of<ArgumentError>([] { return integer("9223372036854775808"); }),
              "expected a whole number of 64 bits, found \"9223372036854775808\"");
  EXPECT_THAT(test::message_of<ArgumentError>([] { return integer(""); }),
              "expected a whole number, found the end of the line");
}

TEST(TakeNumber, LeavesTheRestOfTheLine) {
  std::string_view rest = "  1 2.5\t-3D0  +inf x\r";
  EXPECT_EQ(take_integer(rest), 1);
  EXPECT_EQ(take_real(rest), 2.5);
  EXPECT_EQ(take_real(rest), -3);
  EXPECT_TRUE(std::isinf(take_real(rest)));
  EXPECT_EQ(take_word(rest), "x");
  EXPECT_EQ(take_word(rest), "");
}

}  // namespace
}  // namespace plait::io
