#include "plait/base/rounding.hpp"

#include <gtest/gtest.h>

namespace {

using plait::quotient_up;
using plait::rounded_up;

TEST(Rounding, takes_one_part_more_for_any_remainder) {
  EXPECT_EQ(quotient_up(0, 4), 0);
  EXPECT_EQ(quotient_up(1, 4), 1);
  EXPECT_EQ(quotient_up(8, 4), 2);
  EXPECT_EQ(quotient_up(9, 4), 3);
  EXPECT_EQ(quotient_up((plait::Index{1} << 62) + 1, 2), (plait::Index{1} << 61) + 1);
}

TEST(Rounding, leaves_multiples_as_they_are) {
  EXPECT_EQ(rounded_up(0, 64), 0);
  EXPECT_EQ(rounded_up(1, 64), 64);
  EXPECT_EQ(rounded_up(128, 64), 128);
  EXPECT_EQ(rounded_up(129, 64), 192);
}

}  // namespace
