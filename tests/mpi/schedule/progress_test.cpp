// A look at the network is short.
#include <mpi.h>

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/ring.hpp"
#include "mpi/schedule/words.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace plait::test {
namespace {

using Progress = Ring;

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
  Schedule schedule(context, std::move(graph), "late peer");
  const Described described([&] { return schedule.describe(); });
  const Words mine = words_from(rank, count);
  Words theirs(static_cast<std::size_t>(messages * count));
  schedule.start(std::vector{input(mine), output(theirs)});  // the first run may compare graphs, which waits
  schedule.wait();
  // The last rank begins when the others have looked again and again: were they to wait for it, nobody would go on.
  const bool is_late = rank == ranks - 1;
  const bool waits = !is_late && (left == ranks - 1 || right == ranks - 1);
  if (is_late) MPI_Barrier(test_comm());
  schedule.start(std::vector{input(mine), output(theirs)});
  if (!is_late) {
    for (int look = 0; look < 100; ++look) {
      const bool over = schedule.progress();
      EXPECT_FALSE(over && waits);
    }
    MPI_Barrier(test_comm());
  }
  schedule.wait();
  for (Index k = 0; k < messages; ++k) {
    const Index last = k * count + (k % 2 == 0 ? count : 1) - 1;
    EXPECT_EQ(theirs[static_cast<std::size_t>(last)], words_from(left, 1)[0]) << "message " << k;
  }
}

}  // namespace
}  // namespace plait::test
