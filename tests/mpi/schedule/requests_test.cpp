// MPI's own non-blocking operations within a schedule.
#include <mpi.h>

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/error.hpp"
#include "plait/mpi/request.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/words.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace plait::test {
namespace {

using mpi::Communicator;
using mpi::Context;
using mpi::Request;

Request start_sum(const Communicator& comm, std::uint64_t& value) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, comm.handle(), &request), "MPI_Iallreduce");
  return Request(request);
}

struct Requests : ::testing::Test {
  Context context{test_comm()};
  Communicator other = Communicator::duplicate(context.comm().handle());
  std::uint64_t rank = static_cast<std::uint64_t>(context.rank());
  std::uint64_t ranks = static_cast<std::uint64_t>(context.size());
  int right = (context.rank() + 1) % context.size();
  int left = (context.rank() + context.size() - 1) % context.size();
};

// In each round a number goes around the ring, and then the sum of all replaces it.
TEST_F(Requests, of_collectives_take_turns_with_messages) {
  constexpr Index rounds = 50;
  Graph graph;
  const SlotId value = graph.output(2 * word_bytes);
  OperationId last = graph.compute({}, 0, {});
  for (Index round = 0; round < rounds; ++round) {
    const OperationId sent = graph.send({2 * round, 0, 0}, right, words_of(value, 0, 1), {last});
    const OperationId arrived = graph.receive({2 * round, 0, 0}, left, words_of(value, 1, 1), {last});
    const OperationId mixed = graph.compute(
        {2 * round, 0, 0}, 1, [value](const ThisRun& run, Index) { word(run, value) = 3 * word(run, value, 1) + 1; },
        {}, {sent, arrived});
    last = graph.request({2 * round + 1, 0, 0},
                         [this, value](const ThisRun& run) { return start_sum(other, word(run, value)); }, {}, {mixed});
  }
  Schedule schedule(context, std::move(graph), "sums", {1, 1, 1});
  const Described described([&] { return schedule.describe(); });
  Words words{rank, 0};
  schedule.start(std::vector{output(words)});
  schedule.wait();

  std::uint64_t expected = ranks * (ranks - 1) / 2 * 3 + ranks;
  for (Index round = 1; round < rounds; ++round) expected = ranks * (3 * expected + 1);
  EXPECT_EQ(words[0], expected);
}

TEST_F(Requests, start_in_the_order_of_positions_whatever_is_ready_first) {
  std::vector<Index> started;
  Graph graph;
  const SlotId value = graph.output(word_bytes);
  constexpr Index count = 20;
  for (Index k = 0; k < count; ++k) {
    const Index stage = count - k;  // added with the last one first
    // Every other one is ready at once, the others only after a while, on each rank another one.
    schedule::Dependencies before;
    if (k % 2 == 0) {
      const Index steps = 1 + (k * (1 + context.rank())) % 7;
      before.push_back(graph.compute({stage, 0, 0}, steps, [](const ThisRun&, Index) {}));
    }
    graph.request(
        {stage, 0, 0},
        [&, stage, value](const ThisRun& run) {
          started.push_back(stage);
          return stage % 3 == 0 ? Request() : start_sum(other, word(run, value));
        },
        {}, before);
  }
  Schedule schedule(context, std::move(graph), "ordered", {1, 1, 100});
  const Described described([&] { return schedule.describe(); });
  Words words(1, 0);
  schedule.start(std::vector{output(words)});
  schedule.wait();
  ASSERT_EQ(started.size(), static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k) EXPECT_EQ(started[static_cast<std::size_t>(k)], k + 1);
}

TEST_F(Requests, that_are_done_at_once_let_the_run_go_on) {
  Graph graph;
  int dependents = 0;
  for (Index k = 0; k < 30; ++k) {
    const OperationId done = graph.request({k, 0, 0}, [](const ThisRun&) { return Request(); });
    graph.compute({k, 0, 0}, 1, [&](const ThisRun&, Index) { ++dependents; }, {}, {done});
  }
  Schedule schedule(context, std::move(graph), "nothing to wait for", {1, 1, 1});
  schedule.start();
  schedule.wait();
  EXPECT_EQ(dependents, 30);
}

// All others wait for this rank's part in the collective, whether it has something to give or not.
TEST_F(Requests, start_even_if_what_they_wait_for_failed) {
  Graph graph;
  const SlotId value = graph.output(word_bytes);
  bool used = false;
  const OperationId made = graph.compute({0, 0, 0}, 1, [&](const ThisRun&, Index) {
    if (rank == 0) throw std::runtime_error("fails");
  });
  const OperationId sum =
      graph.request({1, 0, 0}, [&](const ThisRun& run) { return start_sum(other, word(run, value)); }, {}, {made});
  graph.compute({1, 0, 0}, 1, [&](const ThisRun&, Index) { used = true; }, {}, {sum});
  Schedule schedule(context, std::move(graph), "sum after a failure");
  const Described described([&] { return schedule.describe(); });
  Words words(1, 1);
  schedule.start(std::vector{output(words)});
  if (rank == 0) {
    EXPECT_THROW(schedule.wait(), std::runtime_error);
    EXPECT_FALSE(used) << "what it brings counts as failed here";
  } else {
    EXPECT_NO_THROW(schedule.wait());
    EXPECT_TRUE(used);
  }
}

TEST_F(Requests, that_can_not_be_started_end_the_run_and_the_context) {
  Graph graph;
  graph.request({}, [](const ThisRun&) -> Request { throw MpiError("no such operation"); });
  Schedule schedule(context, std::move(graph), "broken");
  schedule.start();
  EXPECT_THROW(schedule.wait(), MpiError);
  EXPECT_THROW(context.expect_usable(), MpiError);
}

}  // namespace
}  // namespace plait::test
