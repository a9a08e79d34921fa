#include <complex>
#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "cli/host/values.hpp"
#include "support/message_of.hpp"

namespace plait::cli {
namespace {

using c128 = std::complex<double>;

TEST(Scalar, complex_numbers_may_be_written_in_several_ways) {
  const auto complex = [](const char* text) { return Scalar(text).as<c128>(); };
  EXPECT_EQ(complex("1+2i"), c128(1, 2));
  EXPECT_EQ(complex("1-2j"), c128(1, -2));
  EXPECT_EQ(complex("-0.5i"), c128(0, -0.5));
  EXPECT_EQ(complex("i"), c128(0, 1));
  EXPECT_EQ(complex("-i"), c128(0, -1));
  EXPECT_EQ(complex("3+i"), c128(3, 1));
  EXPECT_EQ(complex("(1,2)"), c128(1, 2));
  EXPECT_EQ(complex("(-1e-2,+4)"), c128(-1e-2, 4));
  EXPECT_EQ(complex("1e-3-2e+1i"), c128(1e-3, -20));
  EXPECT_EQ(complex("-1e-3i"), c128(0, -1e-3));
  EXPECT_EQ(complex("7"), c128(7, 0));
  EXPECT_EQ(complex("+7.25"), c128(7.25, 0));
}

TEST(Scalar, whole_numbers_of_64_bits_stay_exact) {
  EXPECT_EQ(Scalar("9223372036854775807").as<std::int64_t>(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Scalar("-9223372036854775808").as<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Scalar("18446744073709551615").as<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(Scalar("9007199254740993").as<std::int64_t>(), 9007199254740993);
}

TEST(Scalar, reals_are_rounded_to_the_type) {
  EXPECT_EQ(Scalar("0.1").as<float>(), 0.1F);
  EXPECT_EQ(Scalar("0.1").as<double>(), 0.1);
  EXPECT_EQ(Scalar("0.1+0.2i").as<std::complex<float>>(), std::complex<float>(0.1F, 0.2F));
}

TEST(Scalar, a_type_that_can_not_hold_the_number_is_named) {
  EXPECT_THAT(test::message_of<ArgumentError>([] { return Scalar("0.5").as<std::int32_t>(); }),
              testing::HasSubstr("0.5 is no i32"));
  EXPECT_THAT(test::message_of<ArgumentError>([] { return Scalar("128").as<std::int8_t>(); }),
              testing::HasSubstr("from -128 to 127"));
  EXPECT_THAT(test::message_of<ArgumentError>([] { return Scalar("-1").as<std::uint8_t>(); }),
              testing::HasSubstr("from 0 to 255"));
  EXPECT_THAT(test::message_of<ArgumentError>([] { return Scalar("1+2i").as<double>(); }),
              testing::HasSubstr("1+2i is complex"));
  EXPECT_THAT(test::message_of<ArgumentError>([] { return Scalar("1e39").as<float>(); }),
              testing::HasSubstr("does not fit into f32"));
  EXPECT_THAT(test::message_of<ArgumentError>([] { return Scalar("1e39i").as<std::complex<float>>(); }),
              testing::HasSubstr("does not fit into f32"));
  EXPECT_EQ(Scalar("2+0i").as<double>(), 2);
}

TEST(Scalar, what_is_no_finite_number_is_refused_by_its_text) {
  for (const char* text :
       {"",    "x",    "1x",   "1 2",  "nan",  "inf",     "-inf", "1e999", "1+",    "1+2", "+-1", "++1", "()",
        "(1)", "(1,)", "(,1)", "(1,2", "1,2)", "(1,2,3)", "1+2k", "ii",    "0x1p3", "--1", "e5",  "1e"}) {
    EXPECT_THAT(test::message_of<ArgumentError>([&] { return Scalar(text); }),
                testing::HasSubstr(std::string("'") + text + "'"))
        << text;
  }
}

TEST(Scalar, zero_and_one_are_known_before_the_type_is) {
  for (const char* text : {"0", "-0", "0.0", "0e5", "0i", "0+0i", "(0,0)"}) EXPECT_TRUE(Scalar(text).is_zero()) << text;
  for (const char* text : {"1", "1.0", "1+0i", "(1,0)"}) EXPECT_TRUE(Scalar(text).is_one()) << text;
  for (const char* text : {"1e-300", "i", "-1"}) {
    EXPECT_FALSE(Scalar(text).is_zero() || Scalar(text).is_one()) << text;
  }
}

}  // namespace
}  // namespace plait::cli
