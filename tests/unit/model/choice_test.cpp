#include "plait/model/choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/model/known_alternatives.hpp"

#include "support/message_of.hpp"

namespace {

using namespace plait::model;
using plait::Index;

const Placement four_nodes{4, 1};
const Machine machine = default_machine();

TEST(Choices, follow_the_size_of_the_data) {
  EXPECT_EQ(choose<BroadcastAlgorithm>(machine, four_nodes, 100).algorithm, BroadcastAlgorithm::binomial);
  EXPECT_EQ(choose<BroadcastAlgorithm>(machine, four_nodes, 16'000'000).algorithm, BroadcastAlgorithm::chain);
  EXPECT_EQ(choose<ReduceAlgorithm>(machine, four_nodes, 100).algorithm, ReduceAlgorithm::binomial);
  EXPECT_EQ(choose<ReduceAlgorithm>(machine, four_nodes, 16'000'000).algorithm, ReduceAlgorithm::chain);
  EXPECT_EQ(choose<AllreduceAlgorithm>(machine, four_nodes, 100).algorithm, AllreduceAlgorithm::recursive_doubling);
  EXPECT_EQ(choose<AllreduceAlgorithm>(machine, four_nodes, 16'000'000).algorithm, AllreduceAlgorithm::ring);
  EXPECT_EQ(choose<AllreduceAlgorithm>(machine, {64, 8}, 16'000'000).algorithm, AllreduceAlgorithm::hierarchical);
}

TEST(Choices, of_long_data_are_near_the_bound) {
  const Index bytes = 16'000'000;
  const double once = machine.network.streams[0].both_ways.seconds(16'000) * 1000;  // all of it, through a link
  EXPECT_LT(choose<BroadcastAlgorithm>(machine, four_nodes, bytes).seconds, 1.02 * once);
  EXPECT_LT(choose<ReduceAlgorithm>(machine, four_nodes, bytes).seconds, 1.02 * once);
  EXPECT_LT(choose<AllreduceAlgorithm>(machine, four_nodes, bytes).seconds, 1.02 * 1.5 * once);
  EXPECT_LE(choose<BroadcastAlgorithm>(machine, four_nodes, bytes).segment_bytes, 60'000) << "a chain is a pipeline";
}

TEST(Choices, tell_of_the_best_way_of_each_algorithm_and_are_the_best_of_these) {
  for (Index bytes = 1; bytes < 100'000'000; bytes *= 7) {
    for (const Placement& placement : {Placement{2, 1}, {7, 1}, {16, 4}, {8, 8}}) {
      const auto choice = choose<AllreduceAlgorithm>(machine, placement, bytes);
      for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
        EXPECT_EQ(choice.candidates[i].algorithm, static_cast<AllreduceAlgorithm>(i));
        EXPECT_GE(choice.candidates[i].seconds, 0.99 * choice.seconds);
      }
      const Candidate<AllreduceAlgorithm>& chosen = choice;
      EXPECT_EQ(chosen, choice.candidates[static_cast<std::size_t>(choice.algorithm)]);
      EXPECT_LE(choice.segment_bytes, bytes);
      EXPECT_EQ(choice, choose<AllreduceAlgorithm>(machine, placement, bytes)) << "a pure function";
    }
  }
}

TEST(Choices, are_made_from_alternatives_that_are_made_once_for_each_placement) {
  KnownAlternatives known;
  const Placement in_turn = Placement::on_nodes({0, 1, 0, 1});
  const auto& first = known.of<AllreduceAlgorithm>(in_turn);
  EXPECT_NE(&known.of<AllreduceAlgorithm>(four_nodes), &first);
  EXPECT_EQ(&known.of<AllreduceAlgorithm>(in_turn), &first);
  EXPECT_EQ(choose(machine, first, 1'000'000), choose<AllreduceAlgorithm>(machine, in_turn, 1'000'000));
  EXPECT_THROW(static_cast<void>(known.of<AllreduceAlgorithm>({3, 1, {0, 0}})), plait::ArgumentError);
}

TEST(Choices, are_never_of_what_can_not_be_done) {
  const Placement nodes{64, 8};
  const auto best = choose<AllreduceAlgorithm>(machine, nodes, 16'000'000);
  ASSERT_EQ(best.algorithm, AllreduceAlgorithm::hierarchical);
  const auto other = choose<AllreduceAlgorithm>(machine, nodes, 16'000'000, {.except = best.algorithm});
  EXPECT_NE(other.algorithm, best.algorithm);
  EXPECT_EQ(other.candidates, best.candidates);
  EXPECT_EQ(choose<AllreduceAlgorithm>(machine, nodes, 0, {.except = AllreduceAlgorithm::ring}).algorithm,
            AllreduceAlgorithm::recursive_doubling);
}

TEST(Choices, leave_to_the_caller_what_he_wishes) {
  const auto algorithm = choose<AllreduceAlgorithm>(machine, four_nodes, 16'000'000,
                                                    {.algorithm = AllreduceAlgorithm::recursive_doubling});
  EXPECT_EQ(algorithm.algorithm, AllreduceAlgorithm::recursive_doubling);
  EXPECT_LT(algorithm.candidates[0].seconds, algorithm.seconds) << "the ring is better, and told to be";
  const auto cut = choose<BroadcastAlgorithm>(machine, four_nodes, 16'000'000, {.strands = 5, .segment_bytes = 123});
  EXPECT_EQ(cut.strands, 5);
  EXPECT_EQ(cut.segment_bytes, 123);
  EXPECT_EQ(choose<BroadcastAlgorithm>(machine, four_nodes, 10, {.segment_bytes = 99}).segment_bytes, 10);
}

TEST(Choices, are_refused_where_there_are_none) {
  const auto expect_refused = [](const Placement& placement, Index bytes, const Wishes<ReduceAlgorithm>& wishes,
                                 const char* why) {
    EXPECT_THAT(plait::test::message_of<plait::ArgumentError>(
                    [&] { return choose<ReduceAlgorithm>(machine, placement, bytes, wishes); }),
                why);
  };
  expect_refused({0, 1}, 1, {}, "ranks: 0, expected at least 1");
  expect_refused({1, 0}, 1, {}, "ranks per node: 0, expected at least 1");
  expect_refused({1, 1}, -1, {}, "bytes: -1, expected at least 0");
  expect_refused({1, 1}, 1, {.strands = 0}, "strands: 0, expected at least 1");
  expect_refused({1, 1}, 1, {.segment_bytes = 0}, "segment bytes: 0, expected at least 1");
}

TEST(Choices, have_a_line_for_people) {
  const auto choice = choose<ReduceAlgorithm>(machine, four_nodes, 0);
  EXPECT_EQ(describe(choice, four_nodes, 0),
            "reduce of 0 B on 4 ranks of 4 nodes: chain, 1 strand, segments of 1 B, 0 us (binomial 0 us, "
            "halving-gather 0 us)");
  EXPECT_THAT(describe(choose<AllToAllAlgorithm>(machine, {1, 1}, 9), {1, 1}, 9),
              ::testing::StartsWith("all-to-all of 9 B on 1 rank of 1 node: pairwise, 1 strand, segments of 9 B, "));
}

}  // namespace
