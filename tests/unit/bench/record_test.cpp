#include "bench/harness/record.hpp"

#include <gtest/gtest.h>

#include "example_report.hpp"

namespace plait::bench {
namespace {

TEST(Record, figures_are_medians_and_ratios_are_taken_round_by_round) {
  const Record record = example_record();
  EXPECT_EQ(record.seconds, (Figure{4, {4, 8}}));
  EXPECT_EQ(record.fraction_of_limit, (Figure{0.5, {0.25, 0.5}}));
  ASSERT_TRUE(record.comparison);
  EXPECT_EQ(*record.comparison, (Comparison{"Rival", 12, {3, {1.5, 3}}}));
}

TEST(Record, the_fastest_limit_counts) {
  EXPECT_EQ(example_record().limit, "stream_copy");
  EXPECT_EQ(example_record().limit_seconds, 2);
}

TEST(Record, a_goal_is_met_from_its_number_on) {
  const Record record = example_record();
  EXPECT_TRUE(meets(record, {0.5, 3.0}));
  EXPECT_FALSE(meets(record, {0.51, 3.0}));
  EXPECT_FALSE(meets(record, {0.5, 3.1}));
  EXPECT_TRUE(meets(record, {}));
}

TEST(Record, a_goal_over_a_peer_that_is_not_there_is_met) {
  const Record record = example_record(false);
  EXPECT_FALSE(record.comparison);
  EXPECT_TRUE(meets(record, {0.5, 100.0}));
}

}  // namespace
}  // namespace plait::bench
