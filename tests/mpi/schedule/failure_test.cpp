// What a run does after a computation has thrown: it ends on every rank, and every rank knows what it can rely on.
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/words.hpp"
#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace plait::test {
namespace {

using mpi::Context;

// Which ranks are to fail is an argument of the run.
using FailingRanks = std::vector<int>;

bool fails_here(const ThisRun& run, const Context& context) {
  for (const int rank : run.arguments<FailingRanks>()) {
    if (rank == context.rank()) return true;
  }
  return false;
}

// A number that goes from rank 0 to the last rank, grows by one on each, and is kept by each.
struct Chain {
  explicit Chain(Context& chain_context)
      : context(chain_context),
        schedule(context, graph(), "chain", {1, 1, 1}),
        described([this] { return schedule.describe(); }) {}

  Graph graph() {
    Graph made;
    const SlotId number = made.output(word_bytes);
    OperationId last = made.compute({}, 0, {});
    const int rank = context.rank();
    if (rank > 0) last = made.receive({rank - 1, 0, 0}, rank - 1, words_of(number, 0, 1));
    const auto grow = [this, number](const ThisRun& run, Index) {
      if (fails_here(run, context)) throw std::runtime_error("rank " + std::to_string(context.rank()) + " fails");
      word(run, number) += 1;
    };
    last = made.compute({rank, 0, 0}, 1, grow, {}, {last});
    if (rank + 1 < context.size()) made.send({rank, 0, 0}, rank + 1, words_of(number, 0, 1), {last});
    return made;
  }

  // What wait() told, and the number kept.
  std::string run(const FailingRanks& failing) {
    kept.assign(1, 0);
    schedule.start(std::vector{output(kept)}, &failing);
    try {
      schedule.wait();
      return std::to_string(kept[0]);
    } catch (const PeerFailed& failure) {
      return "peer " + std::to_string(failure.rank());
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  Context& context;
  Words kept;
  Schedule schedule;
  Described described;
};

TEST(Failure, is_thrown_where_it_happens_and_reported_by_those_who_wait_for_it) {
  Context context(test_comm());
  Chain chain(context);
  for (int failing = 0; failing < context.size(); ++failing) {
    const std::string told = chain.run({failing});
    const int rank = context.rank();
    const std::string expected = rank < failing    ? std::to_string(rank + 1)
                                 : rank == failing ? "rank " + std::to_string(failing) + " fails"
                                                   : "peer " + std::to_string(rank - 1);
    EXPECT_EQ(told, expected);
  }
}

TEST(Failure, leaves_nothing_behind_for_the_next_run) {
  Context context(test_comm());
  Chain chain(context);
  for (int round = 0; round < 20; ++round) {
    chain.run({round % context.size()});
    EXPECT_EQ(chain.run({}), std::to_string(context.rank() + 1));
  }
}

TEST(Failure, of_an_own_computation_is_thrown_only_where_it_was_reached) {
  Context context(test_comm());
  Chain chain(context);
  const std::string told = chain.run({0, context.size() - 1});
  if (context.rank() == 0) {
    EXPECT_EQ(told, "rank 0 fails");
  } else {
    EXPECT_EQ(told, "peer " + std::to_string(context.rank() - 1)) << "what depends on a failure is not computed";
  }
}

TEST(Failure, in_one_schedule_does_not_reach_another_one) {
  Context context(test_comm());
  Chain failing(context);
  Chain other(context);
  const FailingRanks nobody;
  other.kept.assign(1, 0);
  other.schedule.start(std::vector{output(other.kept)}, &nobody);
  failing.run({0});
  other.schedule.wait();
  EXPECT_EQ(other.kept[0], static_cast<std::uint64_t>(context.rank() + 1));
}

// Every rank sends itself and all others a number that it computes at its own pace; rank 0 may fail to.
TEST(Failure, of_one_sender_spoils_only_what_comes_from_it) {
  Context context(test_comm());
  const int ranks = context.size();
  Graph graph(ranks);
  const SlotId own = graph.output(word_bytes);
  const SlotId all = graph.output(ranks * word_bytes);
  const OperationId made = graph.compute({}, 1, [&](const ThisRun& run, Index) {
    if (fails_here(run, context)) throw std::runtime_error("fails");
    word(run, own) = static_cast<std::uint64_t>(100 + context.rank());
  });
  for (int peer = 0; peer < ranks; ++peer) {
    graph.send({0, context.rank(), 0}, peer, words_of(own, 0, 1), {made});
    graph.receive({0, peer, 0}, peer, words_of(all, peer, 1));
  }
  Schedule schedule(context, std::move(graph), "all to all");
  const Described described([&] { return schedule.describe(); });
  const FailingRanks failing{0};
  Words own_word(1);
  Words words(static_cast<std::size_t>(ranks), 7);
  schedule.start(std::vector{output(own_word), output(words)}, &failing);
  if (context.rank() == 0) {
    EXPECT_THROW(schedule.wait(), std::runtime_error);
  } else {
    EXPECT_THROW(schedule.wait(), PeerFailed);
  }
  for (int peer = 1; peer < ranks; ++peer) {
    EXPECT_EQ(words[static_cast<std::size_t>(peer)], static_cast<std::uint64_t>(100 + peer));
  }
}

TEST(Failure, may_be_an_exception_of_any_type) {
  Context context(test_comm());
  Graph graph;
  graph.compute({}, 1, [](const ThisRun&, Index) { throw 42; });
  Schedule schedule(context, std::move(graph), "throws an int");
  schedule.start();
  try {
    schedule.wait();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const int value) {
    EXPECT_EQ(value, 42);
  }
  EXPECT_NO_THROW(schedule.wait()) << "a run that is over has nothing more to tell";
}

TEST(Failure, of_a_step_ends_its_computation_and_what_depends_on_it_but_nothing_else) {
  Context context(test_comm());
  Graph graph;
  std::vector<Index> steps;
  bool dependent_ran = false;
  bool other_ran = false;
  const OperationId broken = graph.compute({}, 5, [&](const ThisRun&, Index step) {
    steps.push_back(step);
    if (step == 2) throw std::runtime_error("fails");
  });
  graph.compute({}, 1, [&](const ThisRun&, Index) { dependent_ran = true; }, {}, {broken});
  graph.compute({}, 1, [&](const ThisRun&, Index) { other_ran = true; });
  Schedule schedule(context, std::move(graph), "steps");
  schedule.start();
  EXPECT_THROW(schedule.wait(), std::runtime_error);
  EXPECT_EQ(steps, (std::vector<Index>{0, 1, 2}));
  EXPECT_FALSE(dependent_ran);
  EXPECT_TRUE(other_ran);
}

// The receiver fails before the message that it would have put to use comes: the message must not stay behind, where
// the next run would find it.
TEST(Failure, of_a_receiver_does_not_leave_its_messages_unreceived) {
  Context context(test_comm());
  const int right = (context.rank() + 1) % context.size();
  const int left = (context.rank() + context.size() - 1) % context.size();
  Graph graph;
  const SlotId in = graph.input(word_bytes);
  const SlotId out = graph.output(word_bytes);
  const OperationId ready = graph.compute({}, 1, [&](const ThisRun& run, Index) {
    if (fails_here(run, context)) throw std::runtime_error("fails");
  });
  graph.send({}, right, words_of(in, 0, 1));
  graph.receive({}, left, words_of(out, 0, 1), {ready});
  Schedule schedule(context, std::move(graph), "ring");
  const Described described([&] { return schedule.describe(); });
  for (std::uint64_t round = 0; round < 10; ++round) {
    const Words mine(1, 10 * round + static_cast<std::uint64_t>(context.rank()));
    Words theirs(1);
    const FailingRanks failing = round % 2 == 0 ? FailingRanks{0} : FailingRanks{};
    schedule.start(std::vector{input(mine), output(theirs)}, &failing);
    if (round % 2 == 0 && context.rank() == 0) {
      EXPECT_THROW(schedule.wait(), std::runtime_error);
    } else {
      EXPECT_NO_THROW(schedule.wait()) << "nobody waits for rank 0";
      EXPECT_EQ(theirs[0], 10 * round + static_cast<std::uint64_t>(left));
    }
  }
}

}  // namespace
}  // namespace plait::test
