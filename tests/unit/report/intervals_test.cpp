#include <gtest/gtest.h>

#include "plait/report/overlap.hpp"

namespace plait::report {
namespace {

using Times = std::vector<Interval>;

TEST(Intervals, are_united_where_they_overlap_or_touch) {
  EXPECT_EQ(united({}), Times{});
  EXPECT_EQ(united({{5, 7}, {1, 3}, {2, 4}, {7, 9}, {11, 12}}), (Times{{1, 4}, {5, 9}, {11, 12}}));
  EXPECT_EQ(united({{1, 10}, {2, 3}, {4, 4}, {9, 2}}), (Times{{1, 10}}));
  EXPECT_EQ(length(united({{1, 4}, {2, 6}, {8, 9}})), 6);
}

TEST(Intervals, have_in_common_what_a_second_by_second_count_finds) {
  const Times a{{0, 4}, {6, 8}, {9, 20}, {25, 26}};
  const Times b{{1, 2}, {3, 7}, {8, 9}, {12, 13}, {19, 30}};
  const auto covers = [](const Times& times, Nanoseconds t) {
    for (const Interval& each : times) {
      if (each.begin <= t && t < each.end) return true;
    }
    return false;
  };
  const Times both = common(a, b);
  for (Nanoseconds t = 0; t < 35; ++t) EXPECT_EQ(covers(both, t), covers(a, t) && covers(b, t)) << t;
  EXPECT_EQ(common(b, a), both);
  EXPECT_EQ(common(a, {}), Times{});
}

}  // namespace
}  // namespace plait::report
