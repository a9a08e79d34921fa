#include "plait/model/strands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace plait::model;
using ::testing::ElementsAre;

TEST(Strands, may_overlap_where_so_many_messages_at_once_carry_as_much_as_one) {
  // f(500) = 30, f(1000) = 100: two messages of 500 bytes carry 60 B/s at most, four of f(250) = 30 do.
  const BandwidthCurve curve({{250, 30}, {500, 30}, {1000, 100}});
  EXPECT_TRUE(may_overlap(curve, 1000, 1));
  EXPECT_FALSE(may_overlap(curve, 1000, 2));
  EXPECT_TRUE(may_overlap(curve, 1000, 4));
}

TEST(Strands, are_as_long_as_messages_that_reach_the_rate_of_the_link) {
  const BandwidthCurve curve({{1'000, 10}, {16'000, 95}, {100'000, 100}});
  EXPECT_THAT(possible_strands(curve, 31'999), ElementsAre(1));
  EXPECT_THAT(possible_strands(curve, 32'000), ElementsAre(1, 2));
  EXPECT_THAT(possible_strands(curve, 100'000), ElementsAre(1, 2, 4));
  EXPECT_THAT(possible_strands(curve, 1'000'000'000), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(possible_strands(curve, 0), ElementsAre(1));
}

TEST(Strands, leave_out_a_number_with_which_messages_carry_less) {
  const BandwidthCurve curve({{250, 91}, {500, 30}, {1000, 100}});
  EXPECT_THAT(possible_strands(curve, 1000), ElementsAre(1, 4));
}

}  // namespace
