// A program of its own, since operator new is counted in all of its code: a run of a schedule allocates nothing.
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/reduction.hpp"
#include "plait/schedule/flags.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/ring.hpp"
#include "mpi/schedule/words.hpp"
#include "support/allocated_bytes.hpp"
#include "support/watchdog.hpp"

namespace plait::test {
namespace {

using mpi::Operation;
using mpi::reduction;
using schedule::NodeFlags;

struct Allocation : Ring {
  static constexpr Index count = 100;

  // Some of everything: messages, reductions, staging, computations in steps, signals.
  [[nodiscard]] Graph mixture(const NodeFlags& flags, Index rounds) const {
    Graph graph(3);
    const SlotId in = graph.input(count * word_bytes);
    const SlotId out = graph.output(count * word_bytes);
    const PoolId pool = graph.pool(rounds * word_bytes * count, 3);
    OperationId last = graph.compute({}, 0, {});
    for (Index k = 0; k < rounds; ++k) {
      const Index strand = k % 3;
      const SlotId staged = graph.staging(pool);
      graph.send({k, strand, 0}, right, words_of(in, 0, count));
      const OperationId arrived = graph.receive({k, strand, 0}, left, words_of(staged, 0, count));
      const OperationId summed =
          graph.reduce_local({k, strand, 0}, words_of(staged, 0, count), words_of(out, 0, count),
                             words_of(out, 0, count), reduction<std::uint64_t>(Operation::sum()), {arrived, last});
      last = graph.compute({k, strand, 0}, 3, [out](const ThisRun& run, Index step) { word(run, out, step) += 1; }, {},
                           {summed});
    }
    graph.signal({rounds, 0, 0}, flags, rank, 1, {last});
    graph.await({rounds, 0, 0}, flags, left);
    return graph;
  }
};

TEST_F(Allocation, of_a_repeated_run_is_none_on_whatever_memory_it_works) {
  const NodeFlags first_flags(context, ranks);
  const NodeFlags second_flags(context, ranks);
  constexpr Index rounds = 40;
  Schedule first(context, mixture(first_flags, rounds), "first");
  Schedule second(context, mixture(second_flags, 2 * rounds), "second", {1, 1, 1});
  const Described described([&] { return first.describe() + second.describe(); });

  constexpr int runs = 20;
  const Words mine = words_from(rank, count);
  std::vector<Words> sums(2 * runs, Words(static_cast<std::size_t>(count), 0));
  std::vector<std::vector<Binding>> bindings;
  for (Words& sum : sums) bindings.push_back({input(mine), output(sum)});

  std::size_t before = 0;
  Index held_before = 0;
  for (std::size_t run = 0; run < runs; ++run) {
    if (run == 2) {  // the first runs take their memory
      before = allocated_bytes();
      held_before = context.staging().held_bytes();
    }
    first.start(bindings[2 * run]);
    second.start(bindings[2 * run + 1]);
    (run % 2 == 0 ? first : second).wait();
    (run % 2 == 0 ? second : first).wait();
  }
  EXPECT_EQ(allocated_bytes(), before);
  EXPECT_EQ(context.staging().held_bytes(), held_before);
  EXPECT_GE(held_before, first.staging_bytes() + second.staging_bytes());
  for (std::size_t s = 0; s < sums.size(); ++s) {
    const auto times = static_cast<std::uint64_t>(s % 2 == 0 ? rounds : 2 * rounds);
    EXPECT_EQ(sums[s][0], times * (words_from(left, 1)[0] + 1));
    EXPECT_EQ(sums[s].back(), times * words_from(left, 1)[0]);
  }
}

TEST_F(Allocation, of_a_repeated_run_is_none_after_a_failure_either) {
  Graph graph;
  const SlotId out = graph.output(word_bytes);
  const OperationId made = graph.compute({}, 1, [](const ThisRun& run, Index) {
    if (run.arguments<bool>()) throw 1;
  });
  graph.send({1, 0, 0}, right, words_of(graph.input(word_bytes), 0, 1), {made});
  graph.receive({1, 0, 0}, left, words_of(out, 0, 1));
  Schedule schedule(context, std::move(graph), "failing");
  const Words mine = words_from(rank, 1);
  Words theirs(1);
  const std::vector<Binding> bindings{output(theirs), input(mine)};
  const auto run = [&](bool fails) {
    schedule.start(bindings, &fails);
    if (fails) {
      EXPECT_THROW(schedule.wait(), int);
    } else {
      schedule.wait();
    }
  };
  run(false);
  run(true);
  const std::size_t before = allocated_bytes();
  run(false);
  run(false);
  EXPECT_EQ(allocated_bytes(), before);
}

}  // namespace
}  // namespace plait::test
