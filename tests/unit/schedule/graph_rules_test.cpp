// What a graph refuses. Handles of MPI's operations and types may be used before MPI_Init.
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/mpi/message.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/schedule/compiled.hpp"
#include "plait/schedule/graph.hpp"

#if PLAIT_ASSERT_LEVEL >= 1
namespace {

using plait::ContractViolation;
using plait::Index;
using plait::mpi::Operation;
using plait::mpi::reduction;
using plait::schedule::Combine;
using plait::schedule::Compiled;
using plait::schedule::Graph;
using plait::schedule::OperationId;
using plait::schedule::PoolId;
using plait::schedule::Position;
using plait::schedule::Range;
using plait::schedule::Run;
using plait::schedule::SlotId;

constexpr int own_rank = 0;
constexpr int peer = 1;

const auto nothing = [](const Run&, Index) {};
const auto no_request = [](const Run&) { return plait::mpi::Request(); };

struct GraphRules : ::testing::Test {
  Graph graph{2};
  SlotId in = graph.input(100);
  SlotId out = graph.output(100);
};

TEST_F(GraphRules, have_at_least_one_strand) {
  EXPECT_THROW(Graph{0}, ContractViolation);
  EXPECT_THROW(Graph{-1}, ContractViolation);
}

TEST_F(GraphRules, refuse_strands_that_do_not_exist) {
  EXPECT_NO_THROW(graph.compute({0, 1, 0}, 0, {}));
  EXPECT_THROW(graph.compute({0, 2, 0}, 0, {}), ContractViolation);
  EXPECT_THROW(graph.send({0, -1, 0}, peer, {in, 0, 8}), ContractViolation);
}

TEST_F(GraphRules, refuse_ranges_outside_their_slot) {
  EXPECT_NO_THROW(graph.send({}, peer, {in, 92, 8}));
  EXPECT_NO_THROW(graph.send({}, peer, {in, 100, 0}));
  for (const Range range : {Range{in, 93, 8}, Range{in, -1, 8}, Range{in, 0, -1}, Range{in, 0, 101}, Range{in, 101, 0},
                            Range{in, INT64_MAX, 8}, Range{SlotId{2}, 0, 8}, Range{SlotId{-1}, 0, 8}}) {
    EXPECT_THROW(graph.send({}, peer, range), ContractViolation)
        << static_cast<int>(range.slot) << " " << range.offset << " " << range.bytes;
  }
}

TEST_F(GraphRules, refuse_to_write_to_an_input) {
  EXPECT_THROW(graph.receive({}, peer, {in, 0, 8}), ContractViolation);
  EXPECT_THROW(graph.reduce_local({}, {out, 0, 8}, {in, 0, 8}, {in, 0, 8}, reduction<double>(Operation::sum())),
               ContractViolation);
  EXPECT_NO_THROW(graph.receive({}, peer, {out, 0, 8}));
}

TEST_F(GraphRules, refuse_peers_that_are_no_ranks) {
  EXPECT_THROW(graph.send({}, -1, {in, 0, 8}), ContractViolation);
  EXPECT_THROW(graph.receive({}, -2, {out, 0, 0}), ContractViolation);
}

TEST_F(GraphRules, refuse_reductions_of_unequal_or_broken_or_overlapping_operands) {
  const auto sum = reduction<double>(Operation::sum());
  EXPECT_NO_THROW(graph.reduce_local({}, {in, 0, 16}, {out, 8, 16}, {out, 8, 16}, sum));
  EXPECT_NO_THROW(graph.reduce_local({}, {out, 0, 16}, {out, 16, 16}, {out, 0, 16}, sum));
  EXPECT_NO_THROW(graph.reduce_local({}, {in, 16, 16}, {in, 0, 16}, {out, 0, 16}, sum));
  EXPECT_THROW(graph.reduce_local({}, {in, 0, 16}, {out, 0, 8}, {out, 0, 8}, sum), ContractViolation);
  EXPECT_THROW(graph.reduce_local({}, {in, 0, 12}, {out, 0, 12}, {out, 0, 12}, sum), ContractViolation);
  EXPECT_THROW(graph.reduce_local({}, {out, 8, 16}, {out, 32, 16}, {out, 0, 16}, sum), ContractViolation);
  EXPECT_THROW(graph.reduce_local({}, {in, 0, 16}, {out, 8, 16}, {out, 0, 16}, sum), ContractViolation);
  EXPECT_THROW(graph.reduce_local({}, {in, 0, 16}, {out, 0, 16}, {out, 0, 16},
                                  Combine::reproducible_sum(plait::simd::Element::float64)),
               ContractViolation);
}

TEST_F(GraphRules, refuse_dependencies_on_what_does_not_exist_yet) {
  const OperationId first = graph.compute({}, 0, {});
  EXPECT_NO_THROW(graph.compute({}, 0, {}, {}, {first}));
  EXPECT_THROW(graph.compute({}, 0, {}, {}, {OperationId{2}}), ContractViolation);
  EXPECT_THROW(graph.compute({}, 0, {}, {}, {OperationId{-1}}), ContractViolation);
}

TEST_F(GraphRules, refuse_operations_before_what_they_depend_upon) {
  const OperationId later = graph.compute({1, 0, 0}, 0, {});
  EXPECT_THROW(graph.compute({0, 1, 5}, 0, {}, {}, {later}), ContractViolation);
  EXPECT_NO_THROW(graph.compute({1, 0, 0}, 0, {}, {}, {later}));
}

TEST_F(GraphRules, refuse_work_that_is_not_there) {
  EXPECT_THROW(graph.compute({}, 1, {}), ContractViolation);
  EXPECT_THROW(graph.compute({}, -1, nothing), ContractViolation);
  EXPECT_THROW(graph.request({}, {}), ContractViolation);
}

TEST_F(GraphRules, refuse_pools_that_hold_nothing_and_pools_that_do_not_exist) {
  EXPECT_THROW(graph.pool(8, 0), ContractViolation);
  EXPECT_THROW(graph.pool(-8, 1), ContractViolation);
  EXPECT_THROW(graph.staging(PoolId{0}), ContractViolation);
  EXPECT_THROW(graph.compute({}, 1, nothing, {SlotId{7}}), ContractViolation);
  EXPECT_THROW(graph.input(-1), ContractViolation);
}

// One message that depends on another, directly or through a computation.
void expect_ascending(Position first, Position second, bool is_accepted) {
  for (const bool through_computation : {false, true}) {
    Graph graph(2);
    const SlotId out = graph.output(8);
    OperationId before = graph.receive(first, peer, {out, 0, 8});
    if (through_computation) before = graph.compute(second, 1, nothing, {out}, {before});
    graph.send(second, peer, {out, 0, 8}, {before});
    if (is_accepted) {
      EXPECT_NO_THROW(Compiled(graph, own_rank));
    } else {
      EXPECT_THROW(Compiled(graph, own_rank), ContractViolation);
    }
  }
}

TEST(MessagesThatDependOnOthers, stand_at_higher_positions) {
  expect_ascending({0, 0, 0}, {1, 0, 0}, true);
  expect_ascending({0, 0, 0}, {0, 1, 0}, true);
  expect_ascending({0, 1, 0}, {0, 1, 1}, true);
  expect_ascending({3, 1, 4}, {3, 1, 4}, false);
}

TEST(MessagesThatDependOnOthers, do_so_through_requests_as_well) {
  Graph graph;
  const SlotId out = graph.output(8);
  const OperationId before = graph.request({}, no_request);
  graph.send({}, peer, {out, 0, 8}, {before});
  EXPECT_THROW(Compiled(graph, own_rank), ContractViolation);
}

TEST(LongMessages, are_cut_into_messages_that_share_dependencies_and_dependents) {
  Graph graph;
  const Index bytes = 2 * plait::mpi::longest_message + 5;
  const SlotId in = graph.input(bytes);
  const OperationId before = graph.compute({}, 1, nothing);
  const OperationId sent = graph.send({}, peer, {in, 0, bytes}, {before});
  graph.compute({}, 1, nothing, {}, {sent});
  const Compiled compiled(graph, own_rank);
  Index next = 0;
  for (const int i : compiled.lane_order[Compiled::sends]) {
    const auto& op = compiled.operations[static_cast<std::size_t>(i)];
    EXPECT_EQ(op.range.offset, next);
    EXPECT_LE(op.range.bytes, plait::mpi::longest_message);
    EXPECT_EQ(op.pending, 1);
    next += op.range.bytes;
  }
  EXPECT_EQ(next, bytes);
  EXPECT_EQ(compiled.lane_order[Compiled::sends].size(), 3U);
}

TEST(EmptyMessages, do_not_travel) {
  Graph graph;
  const SlotId out = graph.output(8);
  graph.send({}, peer, {out, 8, 0});
  graph.receive({}, peer, {out, 0, 0});
  const Compiled compiled(graph, own_rank);
  EXPECT_EQ(compiled.size(), 2);
  EXPECT_TRUE(compiled.lane_order[Compiled::sends].empty());
  EXPECT_TRUE(compiled.lane_order[Compiled::receives].empty());
}

}  // namespace
#endif
