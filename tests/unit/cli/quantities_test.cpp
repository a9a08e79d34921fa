#include <limits>

#include <gtest/gtest.h>

#include "cli/host/text.hpp"

namespace plait::cli {
namespace {

TEST(Quantities, bytes_have_three_digits_and_a_decimal_unit) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(9994), "9.99 kB");
  EXPECT_EQ(bytes_text(9996), "10.0 kB");
  EXPECT_EQ(bytes_text(99960), "100 kB");
  EXPECT_EQ(bytes_text(512000000), "512 MB");
  EXPECT_EQ(bytes_text(999600000), "1.00 GB");
  EXPECT_EQ(bytes_text(std::numeric_limits<Index>::max()), "9.22 EB");
}

TEST(Quantities, seconds_are_shown_in_the_unit_that_suits_them) {
  EXPECT_EQ(seconds_text(0), "0 us");
  EXPECT_EQ(seconds_text(7.4e-6), "7 us");
  EXPECT_EQ(seconds_text(4.56e-3), "4.56 ms");
  EXPECT_EQ(seconds_text(1), "1.00 s");
  EXPECT_EQ(seconds_text(123.4), "123 s");
}

TEST(Quantities, a_rate_over_no_time_is_not_shown) {
  EXPECT_EQ(rate_text(1230000000, 1), "1.23 GB/s");
  EXPECT_EQ(rate_text(5, 0), "-");
}

TEST(Quantities, one_is_no_plural) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(2, "rank"), "2 ranks");
}

}  // namespace
}  // namespace plait::cli
