#include "plait/model/costs.hpp"

#include <gtest/gtest.h>

#include "plait/model/cost.hpp"
#include "plait/model/machine.hpp"

namespace {

using namespace plait::model;
using plait::Index;

// Numbers that can be followed by hand: alpha 3 s and 2 B/s between nodes, 1 s and 8 B/s within; 4 B/s are combined,
// and 16 B/s copied.
Machine small_machine() {
  Machine machine = default_machine();
  const BandwidthCurve far({{1, 2}});
  const BandwidthCurve near({{1, 8}});
  machine.network = {.latency_seconds = 3, .streams = {{1, far, far}}};
  machine.node = {.latency_seconds = 1, .streams = {{1, near, near}}};
  machine.combine_bytes_per_second = 4;
  machine.copy_bytes_per_second = 16;
  return machine;
}

const Placement spread{4, 1};  // 4 nodes of a rank
const Placement pairs{4, 2};   // 2 nodes of 2 ranks
constexpr Index n = 8;

template <class A>
double of(A algorithm, const Placement& placement = spread, Index segment_bytes = n, int strands = 1) {
  return seconds(cost(algorithm, small_machine(), placement, n / strands, segment_bytes), strands);
}

TEST(Costs, of_broadcasts_are_those_of_the_textbook) {
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::binomial), 2 * (3 + 4));
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::chain), 3 * (3 + 4));
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::chain, spread, 2), 3 * (3 + 1) + 3);
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::chain, spread, 3), 3 * (3 + 1.5) + 1.5 + 1)
      << "a segment of 3, then 3, then 2";
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::scatter_all_gather), (3 + 2) + (3 + 1) + 3 * (3 + 1));
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::scatter_doubling), (3 + 2) + (3 + 1) + (3 + 1) + (3 + 2));
}

TEST(Costs, of_reductions_are_those_of_the_textbook) {
  EXPECT_DOUBLE_EQ(of(ReduceAlgorithm::binomial), 2 * (3 + 4 + 2));
  EXPECT_DOUBLE_EQ(of(ReduceAlgorithm::chain, spread, 2), 3 * (3 + 1 + 0.5) + 3);
  EXPECT_DOUBLE_EQ(of(ReduceAlgorithm::halving_gather), (3 + 2 + 1) + (3 + 1 + 0.5) + (3 + 2) + (3 + 1));
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::ring), 3 * (3 + 1 + 0.5) + 3 * (3 + 1));
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::recursive_doubling), 2 * (3 + 4 + 2));
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::rabenseifner), (3 + 2 + 1) + (3 + 1 + 0.5) + (3 + 2) + (3 + 1));
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::hierarchical), of(AllreduceAlgorithm::ring)) << "nodes of one rank";
  EXPECT_DOUBLE_EQ(of(ReduceScatterAlgorithm::ring), 3 * (3 + 1 + 0.5));
  EXPECT_DOUBLE_EQ(of(ReduceScatterAlgorithm::recursive_halving), (3 + 2 + 1) + (3 + 1 + 0.5));
}

TEST(Costs, of_gathers_and_exchanges_are_those_of_the_textbook) {
  EXPECT_DOUBLE_EQ(of(AllGatherAlgorithm::ring), 3 * (3 + 1));
  EXPECT_DOUBLE_EQ(of(AllGatherAlgorithm::recursive_doubling), (3 + 1) + (3 + 2));
  EXPECT_DOUBLE_EQ(of(AllToAllAlgorithm::pairwise), 3 * (3 + 1));
  EXPECT_DOUBLE_EQ(of(AllToAllAlgorithm::spread), 3 + 3 * 1);
}

TEST(Costs, of_ranks_that_are_no_power_of_two_have_a_step_before_and_one_after) {
  const Placement three{3, 1};
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::recursive_doubling, three), (3 + 4 + 2) + (3 + 4 + 2) + (3 + 4));
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::ring, three), 2 * (3 + 1.5 + 0.75) + 2 * (3 + 1.5)) << "thirds of 3 bytes";
}

TEST(Costs, know_nodes_and_that_their_ranks_share_a_link) {
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::recursive_doubling, pairs), (1 + 2 * 1 + 2) + (3 + 2 * 4 + 2));
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::ring, pairs), of(AllreduceAlgorithm::ring)) << "one rank of a node sends out";
  const double within = 2 * 1 + 4 / 4.0 + 2 * 8 / 16.0;
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::hierarchical, pairs), within + (3 + 2 * 1 + 0.5) + (3 + 2 * 1))
      << "each rank of a node sends a quarter, and combines one";
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::hierarchical, {2, 2}), within);
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::binomial, pairs), (3 + 4) + (1 + 1));
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::chain, pairs, 2), (3 + 1) + 2 * (1 + 0.25) + 3) << "one hop between nodes";
}

TEST(Costs, are_of_the_nodes_that_ranks_are_on) {
  const Placement one_and_three = Placement::on_nodes({0, 1, 1, 1});
  const Placement in_turn = Placement::on_nodes({0, 1, 0, 1});
  const double far = 3 + 4 + 2;
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::recursive_doubling, one_and_three), far + far) << "in both steps one crosses";
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::recursive_doubling, in_turn), (3 + 2 * 4 + 2) + (1 + 2 * 1 + 2));
  EXPECT_DOUBLE_EQ(of(ReduceScatterAlgorithm::recursive_halving, in_turn), (1 + 2 * 0.5 + 1) + (3 + 2 * 1 + 0.5));
  EXPECT_DOUBLE_EQ(of(AllGatherAlgorithm::ring, in_turn), 3 * (3 + 2 * 1)) << "all ranks of a node send to the other";
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::binomial, in_turn), (1 + 1) + (3 + 2 * 4));
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::chain, one_and_three), (3 + 4) + 2 * (1 + 2 * 1)) << "one hop between nodes";
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::chain, in_turn), 3 * (3 + 2 * 4));
  // Within the larger node: 2 latencies, 2/3 combined, 3 copies; thirds to its first one; halves between the two
  // nodes, and back; down a chain.
  const double within = 2 * 1 + 2 * 3 / 4.0 + 3 * 8 / 16.0;
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::hierarchical, one_and_three),
                   within + (1 + 2 * 3 / 8.0) + (3 + 2 + 1) + (3 + 2) + 2 * (1 + 2 * 1));
}

TEST(Costs, of_segments_hide_what_can_be_done_while_others_travel) {
  const Placement two{2, 1};
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::recursive_doubling, two, 2), (3 + 1 + 0.5) + 3)
      << "one is combined after all";
}

TEST(Costs, of_strands_add_what_keeps_the_link_busy_and_no_latency) {
  EXPECT_DOUBLE_EQ(of(BroadcastAlgorithm::binomial, spread, n, 2), 2 * (3 + 2) + 2 * 2);
  EXPECT_DOUBLE_EQ(of(AllreduceAlgorithm::ring, spread, n, 4), 3 * (3 + 0.5 + 0.25) + 3 * (3 + 0.5) + 3 * 6 * 0.5);
}

template <class A>
class OfEach : public ::testing::Test {};
using All = ::testing::Types<BroadcastAlgorithm, ReduceAlgorithm, AllreduceAlgorithm, AllGatherAlgorithm,
                             ReduceScatterAlgorithm, AllToAllAlgorithm>;
TYPED_TEST_SUITE(OfEach, All);

TYPED_TEST(OfEach, algorithm_costs_grow_with_the_data_and_with_powers_of_two_of_ranks) {
  const Machine machine = default_machine();
  for (std::size_t i = 0; i < algorithms<TypeParam>; ++i) {
    const auto algorithm = static_cast<TypeParam>(i);
    for (const int per_node : {1, 4}) {
      double of_fewer = 0;
      for (int ranks = 4; ranks <= 64; ranks *= 4) {
        double last = 0;
        for (Index bytes = 64'000; bytes < 100'000'000; bytes *= 3) {
          const double time = cost(algorithm, machine, {ranks, per_node}, bytes, 16'000).first_seconds;
          EXPECT_GT(time, last) << to_string(algorithm) << ", " << ranks << " ranks, " << bytes << " bytes";
          last = time;
        }
        EXPECT_GT(last, of_fewer) << to_string(algorithm) << ", " << ranks << " ranks, " << per_node << " per node";
        of_fewer = last;
      }
    }
  }
}

TYPED_TEST(OfEach, algorithm_costs_nothing_without_data_or_other_ranks) {
  const Machine machine = default_machine();
  for (std::size_t i = 0; i < algorithms<TypeParam>; ++i) {
    const auto algorithm = static_cast<TypeParam>(i);
    EXPECT_EQ(seconds(cost(algorithm, machine, {5, 2}, 0, 1), 8), 0) << to_string(algorithm);
    EXPECT_EQ(seconds(cost(algorithm, machine, {1, 1}, 1000, 100), 8), 0) << to_string(algorithm);
  }
}

}  // namespace
