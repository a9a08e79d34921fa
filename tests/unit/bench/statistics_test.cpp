#include "bench/harness/statistics.hpp"

#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>

#include "plait/base/random.hpp"

namespace plait::bench {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> samples(static_cast<std::size_t>(n));
  std::iota(samples.rbegin(), samples.rend(), 1.0);  // in decreasing order: the order must not matter
  return samples;
}

TEST(Statistics, the_median_is_the_middle_or_the_mean_of_the_two_middle_ones) {
  EXPECT_EQ(median(std::vector{3.0}), 3);
  EXPECT_EQ(median(std::vector{9.0, 1.0, 4.0}), 4);
  EXPECT_EQ(median(std::vector{8.0, 1.0, 2.0, 4.0}), 3);
}

// From tables of the sign test, such as table A.1 of David and Nagaraja.
TEST(Statistics, the_interval_of_the_median_leaves_out_as_many_samples_as_tables_say) {
  EXPECT_EQ(median_interval(one_to(6)), (Interval{1, 6}));
  EXPECT_EQ(median_interval(one_to(8)), (Interval{1, 8}));
  EXPECT_EQ(median_interval(one_to(9)), (Interval{2, 8}));
  EXPECT_EQ(median_interval(one_to(10)), (Interval{2, 9}));
  EXPECT_EQ(median_interval(one_to(20)), (Interval{6, 15}));
  EXPECT_EQ(median_interval(one_to(50)), (Interval{18, 33}));
  EXPECT_EQ(median_interval(one_to(100)), (Interval{40, 61}));
}

TEST(Statistics, fewer_than_six_samples_give_their_whole_range) {
  for (int n = 1; n < 6; ++n) EXPECT_EQ(median_interval(one_to(n)), (Interval{1, static_cast<double>(n)}));
}

TEST(Statistics, thousands_of_samples_give_a_narrow_interval_around_the_median) {
  const Interval interval = median_interval(one_to(10001));
  // Of width 2 · 1.96 · √n / 2 by the normal approximation.
  EXPECT_NEAR(interval.low, 5001 - 98, 2);
  EXPECT_NEAR(interval.high, 5001 + 98, 2);
}

TEST(Statistics, the_interval_holds_the_true_median_as_often_as_it_says) {
  int held = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(10);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double u = random_uniform(1, static_cast<std::uint64_t>(trial) * 10 + i);
      samples[i] = u * u;  // skewed; its median is 1/4
    }
    const Interval interval = median_interval(samples);
    if (interval.low <= 0.25 && 0.25 <= interval.high) ++held;
  }
  EXPECT_NEAR(static_cast<double>(held) / trials, 0.9785, 0.01);
}

TEST(Statistics, ratios_are_taken_pair_by_pair) {
  EXPECT_THAT(ratios(std::vector{1.0, 9.0}, std::vector{2.0, 3.0}), testing::ElementsAre(0.5, 3.0));
}

}  // namespace
}  // namespace plait::bench
