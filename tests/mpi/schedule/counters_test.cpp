// What a run counts, and messages that are cut.
#include "plait/base/counters.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/message.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/ring.hpp"
#include "mpi/schedule/words.hpp"
#include "support/watchdog.hpp"

namespace plait::test {
namespace {

using Counting = Ring;

TEST_F(Counting, is_exact_for_messages_and_bytes_by_class_of_peer_and_by_label) {
  Graph graph;
  const SlotId in = graph.input(100);
  const SlotId out = graph.output(300);
  for (int peer = 0; peer < ranks; ++peer) {
    graph.send({0, 0, 0}, peer, {in, 0, 100});
    graph.send({1, 0, 0}, peer, {in, 10, 7});
    graph.send({2, 0, 0}, peer, {in, 10, 0});
    graph.receive({0, 0, 0}, peer, {out, 0, 100});
    graph.receive({1, 0, 0}, peer, {out, 100, 7});
    graph.receive({2, 0, 0}, peer, {out, 200, 0});
  }
  graph.compute({3, 0, 0}, 2, [](const ThisRun& run, Index) { run.count_own_move(1000); });
  Schedule first(context, graph, "counted");
  Schedule second(context, std::move(graph), "counted");
  const Buffer source(100);
  const Buffer target(300);
  const auto run = [&](Schedule& schedule) {
    schedule.start(std::vector{Binding::input(source.bytes()), Binding::output(target.bytes())});
    schedule.wait();
  };
  const auto expected = [&](Index runs) {
    TrafficCounters counters;
    const Traffic to_self{2 * runs, (107 + 2000) * runs};
    const Traffic to_node{2 * (ranks - 1) * runs, 107 * (ranks - 1) * runs};
    counters.sent_to(PeerClass::self) = counters.received_from(PeerClass::self) = to_self;
    counters.sent_to(PeerClass::node) = counters.received_from(PeerClass::node) = to_node;
    return counters;
  };
  run(first);
  EXPECT_EQ(context.counters()["counted"], expected(1));
  run(second);
  run(first);
  EXPECT_EQ(context.counters()["counted"], expected(3));
  context.counters().clear();
  run(first);
  EXPECT_EQ(context.counters()["counted"], expected(1));
  EXPECT_EQ(context.counters().size(), 1U);
}

TEST_F(Counting, is_what_the_graph_says_of_messages_and_of_moves_in_memory_of_the_node) {
  if (ranks == 1) return;
  const Index longest = mpi::longest_message;
  Graph graph;
  graph.send({0, 0, 0}, right, {graph.input(100), 0, 100});
  graph.receive({0, 0, 0}, left, {graph.output(100), 0, 100});
  const auto written = graph.compute({1, 0, 0}, 3, [](const ThisRun&, Index) {});
  graph.writes_for(written, right, 40);
  graph.writes_for(written, left, 2);
  graph.writes_for(written, left, 0);
  const auto joined = graph.compute({2, 0, 0}, 0, {}, {}, {written});
  graph.reads_from(joined, left, longest + 1);
  const Exchanged said = traffic_of(graph);
  EXPECT_EQ(said, (Exchanged{{3, 142}, {2, longest + 101}}));
  Schedule schedule(context, std::move(graph), "moved");
  EXPECT_EQ(schedule.traffic(), said);
  const Buffer source(100), target(100);
  for (Index runs = 1; runs <= 2; ++runs) {
    schedule.start(std::vector{Binding::input(source.bytes()), Binding::output(target.bytes())});
    schedule.wait();
    EXPECT_EQ(context.counters()["moved"].sent_to(PeerClass::node), (Traffic{3 * runs, 142 * runs}));
    EXPECT_EQ(context.counters()["moved"].received_from(PeerClass::node), (Traffic{2 * runs, (longest + 101) * runs}));
  }
}

TEST_F(Counting, leaves_out_what_a_computation_that_failed_would_have_moved) {
  Graph graph;
  const auto failing = graph.compute({}, 1, [](const ThisRun&, Index) { throw ArgumentError("no"); });
  graph.writes_for(failing, right, 40);
  Schedule schedule(context, std::move(graph), "failing");
  schedule.start();
  EXPECT_THROW(schedule.wait(), ArgumentError);
  EXPECT_EQ(context.counters()["failing"], TrafficCounters{});
}

// Rank 0 to the last rank, which may be rank 0 itself.
TEST_F(Counting, takes_a_long_message_for_those_into_which_it_is_cut) {
  constexpr Index bytes = 2 * mpi::longest_message + 12345;
  const int last = ranks - 1;
  Graph graph;
  if (rank == 0) graph.send({}, last, {graph.input(bytes), 0, bytes});
  if (rank == last) graph.receive({}, 0, {graph.output(bytes), 0, bytes});
  Schedule schedule(context, std::move(graph), "long");
  const Described described([&] { return schedule.describe(); });

  // A pattern that repeats after a length which divides no power of two, so that a shift by a piece would show.
  constexpr Index period = 4099;
  const auto pattern = [](Index i) { return static_cast<std::byte>(i % period % 251); };
  std::vector<std::byte> one_period;
  for (Index i = 0; i < period; ++i) one_period.push_back(pattern(i));
  const Buffer source(rank == 0 ? bytes : 0);
  for (Index i = 0; i < source.size(); i += period) {
    std::copy_n(one_period.begin(), std::min(period, source.size() - i), source.data() + i);
  }
  const Buffer target(rank == last ? bytes : 0);

  std::vector<Binding> bindings;
  if (rank == 0) bindings.push_back(Binding::input(source.bytes()));
  if (rank == last) bindings.push_back(Binding::output(target.bytes()));
  schedule.start(bindings);
  schedule.wait();
  Index wrong = 0;
  for (Index i = 0; i < target.size(); i += period) {
    const Index length = std::min(period, target.size() - i);
    wrong += std::equal(one_period.begin(), one_period.begin() + length, target.data() + i) ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
  const PeerClass peer = last == 0 ? PeerClass::self : PeerClass::node;
  const Traffic three{3, bytes};
  EXPECT_EQ(context.counters()["long"].sent_to(peer), rank == 0 ? three : Traffic{});
  EXPECT_EQ(context.counters()["long"].received_from(peer), rank == last ? three : Traffic{});
}

}  // namespace
}  // namespace plait::test
