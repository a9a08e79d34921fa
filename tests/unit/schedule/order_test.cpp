// The order in which operations are numbered, which both ends of each message have to agree on.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/schedule/compiled.hpp"
#include "plait/schedule/graph.hpp"

namespace {

using plait::Index;
using plait::schedule::Compiled;
using plait::schedule::Graph;
using plait::schedule::OperationId;
using plait::schedule::Position;
using plait::schedule::Run;
using plait::schedule::SlotId;

const auto no_work = [](const Run&, Index) {};
const auto no_message = [](const Run&) { return plait::mpi::Request(); };

std::vector<std::string> names(const Graph& graph, int own_rank) {
  const Compiled compiled(graph, own_rank);
  std::vector<std::string> all;
  for (const auto& op : compiled.operations) {
    all.emplace_back(plait::name(op.kind));
    if (op.peer >= 0) all.back() += " " + std::to_string(op.peer);
    if (op.steps > 1) all.back() += " of " + std::to_string(op.steps);
  }
  return all;
}

using Names = std::vector<std::string>;

TEST(Order, is_that_of_stage_then_strand_then_segment) {
  Graph graph(2);
  for (const Position position : {Position{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}, {0, 1, 1}, {1, 0, -1}}) {
    graph.compute(position, 10 * position.stage + 5 * position.strand + position.segment + 10, no_work);
  }
  EXPECT_EQ(names(graph, 0), (Names{"compute of 10", "compute of 11", "compute of 15", "compute of 16", "compute of 19",
                                    "compute of 20"}));
}

TEST(Order, of_messages_at_one_position_is_that_of_sender_and_receiver) {
  Graph graph;
  const SlotId in = graph.input(8);
  const SlotId out = graph.output(8);
  graph.receive({}, 3, {out, 0, 8});
  graph.send({}, 2, {in, 0, 8});
  graph.receive({}, 0, {out, 0, 8});
  graph.send({}, 0, {in, 0, 8});
  // The own rank is 1: 0 → 1, 1 → 0, 1 → 2, 3 → 1.
  EXPECT_EQ(names(graph, 1), (Names{"receive 0", "send 0", "send 2", "receive 3"}));
}

TEST(Order, puts_what_messages_of_a_position_wait_for_before_all_of_them_and_what_waits_for_them_behind) {
  Graph graph;
  const SlotId out = graph.output(24);
  const OperationId arrived = graph.receive({}, 2, {out, 0, 8});
  graph.compute({}, 2, no_work, {}, {arrived});
  graph.request({}, no_message);
  const OperationId packed = graph.compute({}, 3, no_work);
  graph.send({}, 1, {out, 8, 8}, {packed});
  graph.compute({}, 4, no_work, {}, {arrived, packed});
  EXPECT_EQ(names(graph, 0), (Names{"compute of 3", "send 1", "receive 2", "request", "compute of 2", "compute of 4"}));
}

TEST(Order, of_equals_is_that_of_adding) {
  Graph graph;
  const SlotId in = graph.input(8);
  for (const Index offset : {4, 0, 2}) graph.send({}, 1, {in, offset, 1});
  const Compiled compiled(graph, 0);
  std::vector<Index> offsets;
  for (const auto& op : compiled.operations) offsets.push_back(op.range.offset);
  EXPECT_EQ(offsets, (std::vector<Index>{4, 0, 2}));
}

TEST(Order, links_the_messages_of_one_strand_to_one_peer) {
  Graph graph(2);
  const SlotId in = graph.input(8);
  for (const Index stage : {0, 1, 2}) {
    for (const Index strand : {0, 1}) graph.send({stage, strand, 0}, static_cast<int>(1 + stage % 2), {in, 0, 8});
  }
  const Compiled compiled(graph, 0);
  std::vector<int> previous;
  for (const auto& op : compiled.operations) previous.push_back(op.channel_prev);
  EXPECT_EQ(previous, (std::vector<int>{-1, -1, -1, -1, 0, 1}));
}

}  // namespace
