// How long a look at the network takes.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/collectives.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/ring.hpp"
#include "mpi/schedule/words.hpp"
#include "support/watchdog.hpp"

namespace {

using plait::Index;
using plait::schedule::Graph;
using plait::schedule::Schedule;
using plait::schedule::SlotId;
using plait::test::Described;
using plait::test::input;
using plait::test::output;
using plait::test::word_bytes;
using plait::test::Words;
using plait::test::words_of;

using Progress = plait::test::Ring;

TEST_F(Progress, does_not_wait_while_a_peer_sleeps) {
  // Small messages and such that take a rendezvous.
  constexpr Index count = Index{1} << 15;
  constexpr Index messages = 20;
  Graph graph(2);
  const SlotId in = graph.input(count * word_bytes);
  const SlotId out = graph.output(messages * count * word_bytes);
  for (Index k = 0; k < messages; ++k) {
    const Index length = k % 2 == 0 ? count : 1;
    graph.send({k, k % 2, 0}, right, words_of(in, 0, length));
    graph.receive({k, k % 2, 0}, left, words_of(out, k * count, length));
  }
  Schedule schedule(context, std::move(graph), "sleeping peer");
  const Described described([&] { return schedule.describe(); });
  const Words mine = words_from(rank, count);
  Words theirs(static_cast<std::size_t>(messages * count));
  plait::mpi::barrier(context.comm());
  const bool sleeps = rank == ranks - 1;
  if (sleeps) std::this_thread::sleep_for(std::chrono::milliseconds{80});

  using Clock = std::chrono::steady_clock;
  std::vector<double> milliseconds;
  schedule.start(std::vector{input(mine), output(theirs)});
  for (bool over = false; !over;) {
    const auto begin = Clock::now();
    over = schedule.progress();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    if (!over) std::this_thread::sleep_for(std::chrono::microseconds{100});
  }
  schedule.wait();
  for (Index k = 0; k < messages; ++k) {
    const Index last = k * count + (k % 2 == 0 ? count : 1) - 1;
    EXPECT_EQ(theirs[static_cast<std::size_t>(last)], words_from(left, 1)[0]) << "message " << k;
  }
  const bool waits = !sleeps && (left == ranks - 1 || right == ranks - 1);
  if (!waits) return;
  // Single polls may have lost their core to other ranks meanwhile.
  std::sort(milliseconds.begin(), milliseconds.end());
  EXPECT_GT(milliseconds.size(), 20U) << "polls in 80 ms";
  EXPECT_LT(milliseconds[milliseconds.size() / 2], 1.0);
}

}  // namespace
