// Starting and ending runs.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/ring.hpp"
#include "mpi/schedule/words.hpp"
#include "support/watchdog.hpp"

namespace plait::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Runs = Ring;

TEST_F(Runs, refuse_wrong_bindings_and_take_right_ones_afterwards) {
  Schedule schedule(context, shift(4), "shift");
  const Words mine = words_from(rank, 4);
  Words theirs(4);
  Words small(3);
  const auto expect_refused = [&](const std::vector<Binding>& bindings, const auto& text) {
    try {
      schedule.start(bindings);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), text);
    }
    EXPECT_FALSE(schedule.active());
  };
  expect_refused({}, AllOf(HasSubstr("bindings"), HasSubstr("0 given"), HasSubstr("2 inputs"), HasSubstr("shift")));
  expect_refused({input(mine), output(theirs), output(theirs)}, HasSubstr("3 given"));
  expect_refused({input(mine), output(small)},
                 AllOf(HasSubstr("bindings[1]"), HasSubstr("24 bytes"), HasSubstr("at least 32")));
  expect_refused({input(mine), input(mine)},
                 AllOf(HasSubstr("bindings[1]"), HasSubstr("of input"), HasSubstr("bytes of output")));

  schedule.start(std::vector{input(mine), output(theirs)});
  schedule.wait();
  EXPECT_EQ(theirs, words_from(left, 4));
  schedule.start(std::vector{output(theirs), output(small = words_from(rank, 4))});
  schedule.wait();
  EXPECT_EQ(small, words_from((left + ranks - 1) % ranks, 4))
      << "an output may be read from, and bindings may be larger than the slot";
}

TEST_F(Runs, that_are_not_active_have_nothing_to_wait_for) {
  Schedule schedule(context, shift(1), "shift");
  EXPECT_FALSE(schedule.active());
  EXPECT_TRUE(schedule.progress());
  schedule.wait();
}

TEST_F(Runs, of_an_empty_graph_end_at_once) {
  Schedule schedule(context, Graph(), "nothing");
  schedule.start();
  EXPECT_TRUE(schedule.active()) << "until it is waited for";
  EXPECT_TRUE(schedule.progress());
  schedule.wait();
  EXPECT_FALSE(schedule.active());
}

#if PLAIT_ASSERT_LEVEL >= 1
TEST_F(Runs, of_one_schedule_do_not_overlap) {
  Schedule schedule(context, Graph(), "nothing");
  schedule.start();
  EXPECT_THROW(schedule.start(), ContractViolation);
  schedule.wait();
}

TEST_F(Runs, are_not_waited_for_by_their_own_computations) {
  Graph graph;
  Schedule* self = nullptr;
  graph.compute({}, 1, [&](const ThisRun&, Index) { self->wait(); });
  Schedule schedule(context, std::move(graph), "waits for itself");
  self = &schedule;
  schedule.start();
  EXPECT_THROW(schedule.wait(), ContractViolation);
}

TEST_F(Runs, are_not_made_for_windows_of_nothing_or_peers_outside_the_context) {
  using schedule::Windows;
  for (const Windows windows : {Windows{0, 1, 1}, Windows{1, 0, 1}, Windows{1, 1, 0}}) {
    EXPECT_THROW(Schedule(context, Graph(), "no window", windows), ContractViolation);
  }
  Graph graph;
  graph.send({}, ranks, words_of(graph.input(8), 0, 1));
  EXPECT_THROW(Schedule(context, std::move(graph), "no such rank"), ContractViolation);
}
#endif

// Some ranks give the run up, the others wait for it: what is destroyed still does its part.
TEST_F(Runs, that_are_destroyed_while_active_are_finished_first) {
  for (int round = 0; round < 10; ++round) {
    constexpr Index hops = 20;
    constexpr Index count = 2000;
    Words data = words_from(rank, 2 * count);
    {
      Graph graph;
      const SlotId slot = graph.output(2 * count * word_bytes);
      std::vector<OperationId> before;
      for (Index hop = 0; hop < hops; ++hop) {
        const Index from = hop % 2 * count;
        const OperationId sent = graph.send({hop, 0, 0}, right, words_of(slot, from, count), before);
        const OperationId arrived = graph.receive({hop, 0, 0}, left, words_of(slot, count - from, count), before);
        before = {sent, arrived};
      }
      Schedule schedule(context, std::move(graph), "given up");
      const Described described([&] { return schedule.describe(); });
      schedule.start(std::vector{output(data)});
      if ((rank + round) % 2 == 0) schedule.wait();
    }
    const int origin = static_cast<int>(((rank - hops) % ranks + ranks) % ranks);
    EXPECT_EQ(data[0], words_from(origin, 1)[0]);
  }
}

TEST_F(Runs, move_with_their_schedule) {
  Schedule first(context, shift(2), "first");
  Schedule second(context, shift(2), "second");
  const Words mine = words_from(rank, 2);
  Words theirs(2);
  Words other(2);
  first.start(std::vector{input(mine), output(theirs)});
  second.start(std::vector{input(mine), output(other)});
  Schedule moved(std::move(first));
  moved = std::move(second);  // ends the first
  EXPECT_EQ(theirs, words_from(left, 2));
  moved.wait();
  EXPECT_EQ(other, words_from(left, 2));
}

TEST_F(Runs, describe_what_they_wait_for) {
  Graph graph;
  const SlotId slot = graph.output(16);
  const OperationId arrived = graph.receive({0, 0, 3}, left, {slot, 8, 8});
  graph.compute({1, 0, 0}, 1, [](const ThisRun&, Index) {}, {}, {arrived});
  graph.send({0, 0, 3}, right, {slot, 0, 8});
  Schedule schedule(context, std::move(graph), "described");
  EXPECT_THAT(schedule.describe(), HasSubstr("described, rank " + std::to_string(rank) + ", run 0"));
  Words words(2);
  schedule.start(std::vector{output(words)});
  schedule.wait();
  EXPECT_THAT(schedule.describe(), HasSubstr("run 1: 0 of 3 operations unfinished"));
}

TEST_F(Runs, of_thousands_of_schedules_use_the_tags_again) {
  std::vector<std::optional<Schedule>> schedules(7);
  const Words mine = words_from(rank, 1);
  for (int k = 0; k < 3000; ++k) {
    auto& place = schedules[static_cast<std::size_t>(k * k % 7)];
    Graph graph(1 + k % 50);
    const SlotId in = graph.input(8);
    const SlotId out = graph.output(8);
    graph.send({0, k % 50, 0}, right, {in, 0, 8});
    graph.receive({0, k % 50, 0}, left, {out, 0, 8});
    place.emplace(context, std::move(graph), "many");
    if (k % 50 != 0) continue;
    Words theirs(1);
    place->start(std::vector{input(mine), output(theirs)});
    place->wait();
    EXPECT_EQ(theirs, words_from(left, 1));
  }
}

TEST_F(Runs, take_their_staging_memory_beforehand_if_asked_to) {
  Graph graph;
  const SlotId staging = graph.staging(graph.pool(1000, 1));
  const OperationId made =
      graph.compute({0, 0, 0}, 1, [&](const ThisRun& run, Index) { word(run, staging) = 17; }, {staging});
  std::uint64_t seen = 0;
  graph.compute({1, 0, 0}, 1, [&](const ThisRun& run, Index) { seen = word(run, staging); }, {staging}, {made});
  Schedule schedule(context, std::move(graph), "prepared");
  EXPECT_GE(schedule.staging_bytes(), 1000);
  schedule.prepare();
  EXPECT_EQ(context.staging().held_bytes(), 0) << "the memory is the schedule's now";
  schedule.start();
  schedule.wait();
  EXPECT_EQ(seen, 17U);
  EXPECT_GE(context.staging().held_bytes(), 1000);
  schedule.start();
  schedule.wait();
  EXPECT_LT(context.staging().held_bytes(), 2000) << "a run takes what an earlier one gave back";
}

}  // namespace
}  // namespace plait::test
