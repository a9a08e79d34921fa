#include "bench/harness/record.hpp"

#include <gmock/gmock.h>

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

TEST(Record, a_floor_counts_where_no_limit_takes_longer) {
  const auto with_floor = [](double seconds) {
    return make_record("a", {{"plait", {4}}, {"memcpy", {2}}, {"copy", {3}}, {"floor", {seconds}}, {"Rival", {8}}}, 2,
                       Floor::given);
  };
  EXPECT_EQ(with_floor(3).limit, "floor");
  EXPECT_EQ(with_floor(3).fraction_of_limit.median, 0.75);
  EXPECT_EQ(with_floor(1).limit, "memcpy");
  EXPECT_EQ(with_floor(1).comparison->peer, "Rival");
}

TEST(Record, a_mean_is_geometric_and_taken_round_by_round) {
  const std::vector<Record> parts{
      make_record("a", {{"plait", {1, 2, 9}}, {"memcpy", {1, 1, 1}}, {"Rival", {4, 4, 4}}}, 1),
      make_record("b", {{"plait", {4, 8}}, {"memcpy", {9, 9}}, {"copy", {4, 1}}, {"Rival", {9, 9}}}, 2)};
  const Record mean = geometric_mean("a and b", parts);
  ASSERT_EQ(mean.samples.size(), 3U);
  EXPECT_THAT(mean.samples[0].seconds, testing::ElementsAre(testing::DoubleEq(2), testing::DoubleEq(4)));
  EXPECT_THAT(mean.samples[1].seconds, testing::ElementsAre(testing::DoubleEq(2), testing::DoubleEq(1)));
  EXPECT_EQ(mean.limit, "several");
  EXPECT_DOUBLE_EQ(mean.comparison->speedup.spread.high, 3);
  EXPECT_DOUBLE_EQ(mean.comparison->speedup.spread.low, 1.5);
}

TEST(Record, a_mean_has_a_peer_only_where_all_parts_have) {
  const std::vector<Record> parts{example_record(), example_record(false)};
  EXPECT_FALSE(geometric_mean("both", parts).comparison);
}

TEST(Record, a_goal_is_met_from_its_number_on) {
  const Record record = example_record();
  EXPECT_TRUE(meets(record, {0.5, 3.0}));
  EXPECT_FALSE(meets(record, {0.51, 3.0}));
  EXPECT_FALSE(meets(record, {0.5, 3.1}));
  EXPECT_TRUE(meets(record, {}));
}

TEST(Record, a_cost_is_held_to_the_least_of_all_others) {
  Record record = example_record();
  EXPECT_EQ(cost_over_best(record), 6. / 5);
  EXPECT_TRUE(meets(record, {.fraction_of_limit = {}, .speedup_over_peer = {}, .cost_over_best = 1.2}));
  EXPECT_FALSE(meets(record, {.fraction_of_limit = {}, .speedup_over_peer = {}, .cost_over_best = 1.19}));
  record.costs.resize(1);
  EXPECT_TRUE(measurable(record, {.fraction_of_limit = {}, .speedup_over_peer = {}, .cost_over_best = 1}).empty());
}

TEST(Record, a_goal_over_a_peer_that_is_not_there_is_not_measured) {
  const Record alone = example_record(false);
  EXPECT_FALSE(alone.comparison);
  EXPECT_EQ(measurable(alone, {0.5, 3.0}), (Goal{0.5, std::nullopt}));
  EXPECT_TRUE(measurable(alone, {std::nullopt, 3.0}).empty());
  EXPECT_EQ(measurable(example_record(), {0.5, 3.0}), (Goal{0.5, 3.0}));
}

}  // namespace
}  // namespace plait::bench
