// Signals between the ranks of a node.
#include "plait/schedule/flags.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_window.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/words.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace plait::test {
namespace {

using mpi::Context;
using mpi::SharedWindow;
using schedule::NodeFlags;

std::uint64_t& shared_word(const SharedWindow& window, int rank, Index index = 0) {
  return reinterpret_cast<std::uint64_t*>(window.segment(rank).data())[index];
}

struct Flags : ::testing::Test {
  Context context{test_comm()};
  int rank = context.rank();
  int ranks = context.size();
};

// Rank 0 writes, all others read; they tell when they have, so that rank 0 may write again.
TEST_F(Flags, order_writers_and_readers_of_shared_memory_through_many_runs) {
  const SharedWindow window(context.topology().node(), rank == 0 ? 8 : 0);
  const NodeFlags flags(context, 2 * ranks);
  std::vector<std::uint64_t> seen;
  Graph graph;
  if (rank == 0) {
    const OperationId written = graph.compute(
        {0, 0, 0}, 1, [&](const ThisRun& run, Index) { shared_word(window, 0) = run.arguments<std::uint64_t>(); });
    graph.signal({0, 0, 0}, flags, 0, ranks - 1, {written});
    for (int reader = 1; reader < ranks; ++reader) graph.await({1, 0, 0}, flags, reader);
  } else {
    const OperationId ready = graph.await({0, 0, 0}, flags, 0);
    const OperationId read = graph.compute(
        {0, 0, 0}, 1, [&](const ThisRun&, Index) { seen.push_back(shared_word(window, 0)); }, {}, {ready});
    graph.signal({1, 0, 0}, flags, rank, 1, {read});
  }
  Schedule schedule(context, std::move(graph), "write and read");
  const Described described([&] { return schedule.describe(); });
  for (std::uint64_t run = 1; run <= 200; ++run) {
    schedule.start({}, &run);
    schedule.wait();
  }
  if (rank == 0) return;
  ASSERT_EQ(seen.size(), 200U);
  for (std::uint64_t run = 1; run <= 200; ++run) EXPECT_EQ(seen[run - 1], run);
}

// Without an answer the signaller gets ahead by one run; its next signal must not overwrite one that is waited for.
TEST_F(Flags, hold_a_signaller_back_that_is_more_than_a_run_ahead) {
  const NodeFlags flags(context, 1);
  int signalled = 0;
  int awaited = 0;
  Graph graph;
  if (rank == 0) {
    const OperationId sent = graph.signal({}, flags, 0, ranks - 1);
    graph.compute({}, 1, [&](const ThisRun&, Index) { ++signalled; }, {}, {sent});
  } else {
    const OperationId seen = graph.await({}, flags, 0);
    graph.compute({}, 1, [&](const ThisRun&, Index) { ++awaited; }, {}, {seen});
  }
  Schedule schedule(context, std::move(graph), "ahead");
  const Described described([&] { return schedule.describe(); });
  for (int run = 0; run < 100; ++run) {
    if (rank != 0 && run % 25 == 24) std::this_thread::sleep_for(std::chrono::milliseconds{2});
    schedule.start();
    schedule.wait();
  }
  EXPECT_EQ(rank == 0 ? signalled : awaited, 100);
}

TEST_F(Flags, carry_failure_to_all_readers_and_none_into_the_next_run) {
  const NodeFlags flags(context, 1);
  Graph graph;
  const auto work = [](const ThisRun& run, Index) {
    if (run.arguments<bool>()) throw std::runtime_error("fails");
  };
  if (rank == 0) {
    graph.signal({}, flags, 0, ranks - 1, {graph.compute({}, 1, work)});
  } else {
    graph.await({}, flags, 0);
  }
  Schedule schedule(context, std::move(graph), "failing signaller");
  const Described described([&] { return schedule.describe(); });
  for (const bool fails : {false, true, true, false, true, false}) {
    schedule.start({}, &fails);
    if (!fails) {
      EXPECT_NO_THROW(schedule.wait());
    } else if (rank == 0) {
      EXPECT_THROW(schedule.wait(), std::runtime_error);
    } else {
      try {
        schedule.wait();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const PeerFailed& failure) {
        EXPECT_EQ(failure.rank(), 0);
      }
    }
  }
}

TEST_F(Flags, may_be_read_by_the_signaller_itself_and_more_than_once) {
  const NodeFlags flags(context, ranks);
  Graph graph;
  int done = 0;
  const OperationId signal = graph.signal({1, 0, 0}, flags, rank, 2);
  const OperationId first = graph.await({1, 0, 0}, flags, rank);
  const OperationId second = graph.await({1, 0, 0}, flags, rank);
  graph.compute({1, 0, 0}, 1, [&](const ThisRun&, Index) { ++done; }, {}, {signal, first, second});
  Schedule schedule(context, std::move(graph), "own flag");
  const Described described([&] { return schedule.describe(); });
  for (int run = 0; run < 10; ++run) {
    schedule.start();
    schedule.wait();
  }
  EXPECT_EQ(done, 10);
}

// A ring of one word: rank 0 writes it several times in a run, each time after all others have read it.
TEST_F(Flags, may_be_signalled_several_times_in_a_run) {
  constexpr Index rounds = 5;
  const SharedWindow window(context.topology().node(), rank == 0 ? 8 : 0);
  const NodeFlags flags(context, ranks);  // 0: written; of each reader: read
  std::vector<std::uint64_t> seen;
  Graph graph;
  std::vector<OperationId> before;
  for (Index round = 0; round < rounds; ++round) {
    const schedule::Position written_at{2 * round, 0, 0};
    const schedule::Position read_at{2 * round + 1, 0, 0};
    if (rank == 0) {
      const OperationId written = graph.compute(
          written_at, 1,
          [&, round](const ThisRun& run, Index) {
            shared_word(window, 0) = 10 * run.arguments<std::uint64_t>() + static_cast<std::uint64_t>(round);
          },
          {}, before);
      graph.signal(written_at, flags, 0, ranks - 1, {written});
      before.clear();
      for (int reader = 1; reader < ranks; ++reader) before.push_back(graph.await(read_at, flags, reader));
    } else {
      const OperationId ready = graph.await(written_at, flags, 0);
      const OperationId read = graph.compute(
          written_at, 1, [&](const ThisRun&, Index) { seen.push_back(shared_word(window, 0)); }, {}, {ready});
      graph.signal(read_at, flags, rank, 1, {read});
    }
  }
  Schedule schedule(context, std::move(graph), "ring");
  const Described described([&] { return schedule.describe(); });
  for (std::uint64_t run = 1; run <= 50; ++run) {
    schedule.start({}, &run);
    schedule.wait();
  }
  if (rank == 0) return;
  ASSERT_EQ(seen.size(), 250U);
  for (std::uint64_t i = 0; i < 250; ++i) EXPECT_EQ(seen[i], 10 * (i / rounds + 1) + i % rounds);
}

TEST_F(Flags, that_only_tell_the_end_keep_failure_to_themselves) {
  const NodeFlags flags(context, 1);
  Graph graph;
  if (rank == 0) {
    const OperationId fails = graph.compute({}, 1, [](const ThisRun&, Index) { throw std::runtime_error("fails"); });
    graph.signal({}, flags, 0, ranks - 1, {fails}, schedule::Tells::end);
  } else {
    graph.await({}, flags, 0);
  }
  Schedule schedule(context, std::move(graph), "end");
  const Described described([&] { return schedule.describe(); });
  for (int run = 0; run < 3; ++run) {
    schedule.start();
    if (rank == 0) {
      EXPECT_THROW(schedule.wait(), std::runtime_error);
    } else {
      EXPECT_NO_THROW(schedule.wait());
    }
  }
}

TEST_F(Flags, without_readers_hold_nobody_up) {
  const NodeFlags flags(context, ranks);
  Graph graph;
  graph.signal({}, flags, rank, 0);
  Schedule schedule(context, std::move(graph), "no readers");
  for (int run = 0; run < 10; ++run) {
    schedule.start();
    schedule.wait();
  }
}

TEST_F(Flags, may_be_none) {
  const NodeFlags flags(context, 0);
  EXPECT_EQ(flags.size(), 0);
#if PLAIT_ASSERT_LEVEL >= 1
  EXPECT_THROW((void)flags.cell(0), ContractViolation);
#endif
}

}  // namespace
}  // namespace plait::test
