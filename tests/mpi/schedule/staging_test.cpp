// Blocks of staging pools that are as small as they may be, through windows of one.
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/schedule/compiled.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/ring.hpp"
#include "mpi/schedule/words.hpp"
#include "support/watchdog.hpp"

namespace plait::test {
namespace {

using schedule::Compiled;

using Staging = Ring;

// The last rank has a message to itself at the position at which one comes from rank 0, and a computation that needs a
// block when its own has arrived. Were that computation to take its block first, because it was added first, then with
// a single block the message of rank 0 would wait for it, and it for its message, which comes second.
TEST_F(Staging, serves_what_waits_for_other_messages_of_the_same_position) {
  const int last = ranks - 1;
  const auto make = [&](Index blocks) {
    Graph graph;
    const SlotId in = graph.input(2 * word_bytes);
    const SlotId out = graph.output(3 * word_bytes);
    if (rank == last) {
      const PoolId pool = graph.pool(word_bytes, blocks);
      const SlotId scratch = graph.staging(pool);
      const SlotId staged = graph.staging(pool);
      graph.send({}, last, words_of(in, 0, 1));
      const OperationId own = graph.receive({}, last, words_of(out, 0, 1));
      const auto use_scratch = [=](const ThisRun& run, Index) { word(run, scratch) = word(run, out, 1) = 5; };
      graph.compute({}, 1, use_scratch, {scratch}, {own});
      if (last > 0) {
        const OperationId arrived = graph.receive({}, 0, words_of(staged, 0, 1));
        const auto keep = [=](const ThisRun& run, Index) { word(run, out, 2) = word(run, staged); };
        graph.compute({1, 0, 0}, 1, keep, {staged}, {arrived});
      }
    } else if (rank == 0) {
      graph.send({}, last, words_of(in, 1, 1));
    }
    return graph;
  };
#if PLAIT_ASSERT_LEVEL >= 1
  if (rank == last && last > 0) {
    EXPECT_THROW(Compiled(make(1), rank), ContractViolation);
  }
#endif
  Schedule schedule(context, make(2), "two blocks", {1, 1, 1});
  const Described described([&] { return schedule.describe(); });
  const Words mine{10, 20};
  for (int run = 0; run < 5; ++run) {
    Words kept(3, 0);
    schedule.start(std::vector{input(mine), output(kept)});
    schedule.wait();
    EXPECT_EQ(kept, rank == last ? (Words{10, 5, last > 0 ? 20U : 0U}) : Words(3, 0));
  }
}

// Every rank passes on what comes, all the way around, with one block for all hops.
TEST_F(Staging, of_one_block_passes_any_number_of_messages_on) {
  constexpr Index rounds = 100;
  constexpr Index count = 300;
  Graph graph;
  const SlotId in = graph.input(count * word_bytes);
  const SlotId out = graph.output(count * word_bytes);
  const PoolId pool = graph.pool(count * word_bytes, 1);
  for (Index round = 0; round < rounds; ++round) {
    const Index origin = round % ranks;
    const int distance = static_cast<int>((rank - origin + ranks) % ranks);
    const Index stage = round * ranks;
    if (distance == 0) {
      graph.send({stage, 0, 0}, right, words_of(in, 0, count));
      graph.receive({stage + ranks - 1, 0, 0}, left, words_of(out, 0, count));
    } else {
      const SlotId staged = graph.staging(pool);
      const OperationId arrived = graph.receive({stage + distance - 1, 0, 0}, left, words_of(staged, 0, count));
      const auto grow = [=](const ThisRun& run, Index) { word(run, staged, count - 1) += 1; };
      const OperationId grown = graph.compute({stage + distance - 1, 0, 0}, 1, grow, {staged}, {arrived});
      graph.send({stage + distance, 0, 0}, right, words_of(staged, 0, count), {grown});
    }
  }
  Schedule schedule(context, std::move(graph), "hops", {1, 1, 1});
  const Described described([&] { return schedule.describe(); });
  const Words mine = words_from(rank, count);
  Words returned(static_cast<std::size_t>(count));
  schedule.start(std::vector{input(mine), output(returned)});
  schedule.wait();
  EXPECT_EQ(returned[0], mine[0]);
  EXPECT_EQ(returned.back(), mine[0] + static_cast<std::uint64_t>(ranks - 1));
}

}  // namespace
}  // namespace plait::test
