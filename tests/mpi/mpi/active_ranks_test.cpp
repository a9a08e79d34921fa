#include "plait/mpi/node/active_ranks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/message.hpp"

#include "mpi/mpi/pretended_nodes.hpp"
#include "support/ranks.hpp"

namespace {

using namespace std::chrono_literals;
using plait::ArgumentError;
using plait::Index;
using plait::PeerFailed;
using plait::mpi::ActiveRanks;
using plait::mpi::Context;
using plait::mpi::Operation;
using plait::mpi::serving_ranks;
using plait::mpi::SharedMemory;
using plait::test::PretendedNodes;
using plait::test::rank;
using plait::test::ranks;
using plait::test::test_comm;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto short_interval = 300us;  // so that the tests take no longer than they must

TEST(ServingRanks, are_the_first_of_runs_of_equal_length) {
  const std::vector<int> one_domain(7, -1);
  EXPECT_THAT(serving_ranks(one_domain, 1), ElementsAre(0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(serving_ranks(one_domain, 2), ElementsAre(0, 0, 0, 0, 4, 4, 4));
  EXPECT_THAT(serving_ranks(one_domain, 3), ElementsAre(0, 0, 0, 3, 3, 5, 5));
  EXPECT_THAT(serving_ranks(one_domain, 7), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(serving_ranks(one_domain, 100), ElementsAre(0, 1, 2, 3, 4, 5, 6)) << "no more than there are";
}

TEST(ServingRanks, work_for_their_own_domain) {
  EXPECT_THAT(serving_ranks(std::vector{0, 1, 0, 1, 0, 1}, 2), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(serving_ranks(std::vector{1, 1, 0, 0}, 2), ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(serving_ranks(std::vector{1, 1, 0, 0}, 1), ElementsAre(2, 2, 2, 2));
}

// Those that there are, if there are several, such as the emulated cluster's; otherwise some to be pretended.
std::vector<std::vector<int>> node_sizes() {
  const Context context(test_comm());
  std::vector<int> sizes(static_cast<std::size_t>(context.topology().nodes()), 0);
  for (const int node : context.topology().nodes_of_ranks()) ++sizes[static_cast<std::size_t>(node)];
  if (sizes.size() > 1) return {sizes};
  switch (ranks()) {
    case 2: return {{2}, {1, 1}};
    case 3: return {{3}, {2, 1}};
    case 5: return {{5}, {3, 2}, {1, 4}};
    default: return {{ranks()}};
  }
}

TEST(ActiveRanks, run_the_kernel_on_some_of_each_node) {
  for (const std::vector<int>& sizes : node_sizes()) {
    const PretendedNodes nodes(sizes);
    Context context(test_comm());
    ASSERT_EQ(context.topology().nodes(), static_cast<int>(sizes.size()));
    for (const int per_node : {1, 2, 5}) {
      ActiveRanks active(context, per_node, short_interval);
      int wanted = 0;
      for (const int size : sizes) wanted += std::min(size, per_node);
      ASSERT_EQ(static_cast<int>(active.ranks().size()), wanted);
      EXPECT_EQ(active.is_active(), std::ranges::count(active.ranks(), rank()) == 1);
      EXPECT_EQ(active.is_active(), active.serving(rank()) == rank());
      EXPECT_EQ(context.topology().node_of(active.serving(rank())), context.topology().node_of(rank()));

      int calls = 0;
      active.run([&](Context& few) {
        ++calls;
        EXPECT_EQ(few.size(), wanted);
        EXPECT_EQ(active.ranks()[static_cast<std::size_t>(few.rank())], rank());
        EXPECT_EQ(few.topology().nodes(), context.topology().nodes());
        const Index served = static_cast<Index>(active.served().size());
        EXPECT_EQ(plait::mpi::all_reduce(few.comm(), served, Operation::sum()), context.size());
        for (const int other : active.served()) EXPECT_EQ(active.serving(other), rank());
      });
      EXPECT_EQ(calls, active.is_active() ? 1 : 0);
      EXPECT_EQ(active.served().empty(), !active.is_active());
    }
  }
}

// Sleepers write, active ranks of the node read all of it and write answers, again and again.
TEST(ActiveRanks, are_handed_data_and_hand_it_back) {
  for (const std::vector<int>& sizes : node_sizes()) {
    const PretendedNodes nodes(sizes);
    Context context(test_comm());
    for (const int per_node : {1, 2}) {
      ActiveRanks active(context, per_node, short_interval);
      constexpr std::size_t count = 1000;
      const SharedMemory memory = context.allocate_shared(count * sizeof(Index));
      ASSERT_TRUE(memory.is_shared());
      auto* const own = reinterpret_cast<Index*>(memory.bytes().data());
      const auto place = context.find_shared(memory.bytes());
      const auto value = [](int of, Index round, std::size_t i) { return of + 10 * round + 1000 * Index(i); };
      for (Index round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < count; ++i) own[i] = value(rank(), round, i);
        active.run([&](Context& few) {
          Index wrong = 0;
          for (int other = 0; other < context.size(); ++other) {
            if (context.topology().node_of(other) != context.topology().node_of(rank())) continue;
            const auto* theirs = reinterpret_cast<const Index*>(context.shared_address(other, *place));
            for (std::size_t i = 0; i < count; ++i) wrong += theirs[i] != value(other, round, i) ? 1 : 0;
          }
          EXPECT_EQ(wrong, 0) << "in round " << round;
          plait::mpi::barrier(few.comm());
          for (const int other : active.served()) {
            auto* theirs = reinterpret_cast<Index*>(context.shared_address(other, *place));
            for (std::size_t i = 0; i < count; ++i) theirs[i] = -theirs[i] - rank();
          }
        });
        Index wrong = 0;
        for (std::size_t i = 0; i < count; ++i) {
          wrong += own[i] != -value(rank(), round, i) - active.serving(rank()) ? 1 : 0;
        }
        ASSERT_EQ(wrong, 0) << "in round " << round;
      }
    }
  }
}

TEST(ActiveRanks, keep_their_context_from_run_to_run) {
  Context context(test_comm());
  ActiveRanks active(context, 1, short_interval);
  std::set<Context*> contexts;
  for (int run = 0; run < 5; ++run) active.run([&](Context& few) { contexts.insert(&few); });
  EXPECT_EQ(contexts.size(), active.is_active() ? 1U : 0U);
}

// What a rank has under way gets a turn whenever it looks if it is woken.
struct CountedLooks final : plait::mpi::Activity {
  bool advance() noexcept override {
    ++looks;
    return false;
  }
  int looks = 0;
};

// How often a sleeper looks is what its share of a core follows from (0.1-0.3 % at 10 ms), and does not depend on what
// else the machine does.
TEST(ActiveRanks, let_the_others_sleep) {
  constexpr auto interval = 10ms;
  Context context(test_comm());
  ActiveRanks active(context, 1, interval);
  CountedLooks counted;
  context.activities().enlist(counted);
  plait::mpi::barrier(context.comm());
  counted.looks = 0;
  const auto begin = std::chrono::steady_clock::now();
  active.run([](Context&) { std::this_thread::sleep_for(700ms); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  context.activities().dismiss(counted);
  EXPECT_GE(took, 700ms) << "nobody goes on before all are done";
  if (active.is_active()) return;
  constexpr double at_first = 100;  // looks after sleeps of a sixteenth of the time so far, until they last an interval
  EXPECT_LE(counted.looks, took / interval + at_first);
}

TEST(ActiveRanks, sleep_no_longer_than_a_short_kernel_is_worth) {
  Context context(test_comm());
  ActiveRanks active(context, 1, 1h);
  for (int run = 0; run < 5; ++run) active.run([](Context&) {});
}

// What sleepers have under way goes on: a message that is too long to be sent without their help, and the context's
// activities, for which the kernel waits here.
struct SharedCountdown final : plait::mpi::Activity {
  explicit SharedCountdown(Index& shared_steps) : left(shared_steps) { left = 3; }
  bool advance() noexcept override { return left > 0 && left-- > 0; }
  std::atomic_ref<Index> left;
};

TEST(ActiveRanks, get_messages_and_help_of_sleepers) {
  Context context(test_comm());
  ActiveRanks active(context, 1, short_interval);
  std::vector<std::byte> out(1 << 20, static_cast<std::byte>(rank() + 1));
  plait::mpi::Request sending;
  if (!active.is_active()) sending = plait::mpi::start_send(context.comm(), out, active.serving(rank()), 1);
  const SharedMemory memory = context.allocate_shared(sizeof(Index));
  const auto place = context.find_shared(memory.bytes());
  const auto steps_of = [&](int other) { return reinterpret_cast<Index*>(context.shared_address(other, *place)); };
  SharedCountdown activity(*steps_of(rank()));
  context.activities().enlist(activity);
  active.run([&](Context&) {
    for (const int other : active.served()) {
      if (other == rank()) continue;
      std::vector<std::byte> in(out.size());
      plait::mpi::start_receive(context.comm(), in, other, 1).wait();
      EXPECT_EQ(in.back(), static_cast<std::byte>(other + 1));
      while (std::atomic_ref<Index>(*steps_of(other)) > 0) std::this_thread::yield();
    }
  });
  context.activities().dismiss(activity);
}

struct FailingKernels : ::testing::Test {
  Context context{test_comm()};
  ActiveRanks active{context, 2, short_interval};

  // What `run` throws on this rank.
  template <class Error>
  std::string error_of(const ActiveRanks::Kernel& kernel) {
    try {
      active.run(kernel);
    } catch (const Error& error) {
      return error.what();
    } catch (const std::exception& error) {
      return std::string("another class: ") + error.what();
    }
    return "nothing";
  }
};

TEST_F(FailingKernels, are_known_to_all_ranks) {
  for (const int failing : active.ranks()) {
    const std::string text = error_of<ArgumentError>([&](Context&) {
      if (rank() == failing) throw ArgumentError("this one is wrong");
    });
    const std::string where = ranks() == 1 || rank() == failing ? "" : "rank " + std::to_string(failing) + ": ";
    EXPECT_EQ(text, where + "this one is wrong");
    int calls = 0;
    active.run([&](Context&) { ++calls; });
    EXPECT_EQ(calls, active.is_active() ? 1 : 0) << "the next run works";
  }
}

TEST_F(FailingKernels, of_all_active_ranks_give_each_its_own_error) {
  const std::string text =
      error_of<std::runtime_error>([](Context&) { throw std::runtime_error("of " + std::to_string(rank())); });
  const std::string own = "of " + std::to_string(rank());
  EXPECT_EQ(text, active.is_active() ? own : "rank 0: of 0");
}

TEST_F(FailingKernels, tell_the_cause_before_those_whom_it_let_down) {
  if (ranks() == 1) return;
  const int failing = active.ranks().back();
  try {
    active.run([&](Context&) {
      if (rank() != failing) throw PeerFailed(1, "let down");
      throw ArgumentError("the cause");
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const PeerFailed& error) {
    EXPECT_TRUE(active.is_active() && rank() != failing);
  } catch (const ArgumentError& error) {
    EXPECT_TRUE(!active.is_active() || rank() == failing);
    EXPECT_THAT(error.what(), HasSubstr("the cause"));
  }
}

TEST_F(FailingKernels, are_those_that_want_the_sleepers) {
  const auto refused = HasSubstr("expected the context that the kernel was given");
  EXPECT_THAT(error_of<ArgumentError>([&](Context&) { active.run([](Context&) {}); }), refused);
  EXPECT_THAT(error_of<ArgumentError>([&](Context&) { plait::mpi::agreed(context, [] {}); }), refused);
  EXPECT_THAT(error_of<ArgumentError>([&](Context&) { const ActiveRanks others(context, 1); }), refused);
  EXPECT_THAT(error_of<ArgumentError>([&](Context&) { (void)context.allocate_shared(1); }), refused);
  EXPECT_THAT(error_of<ArgumentError>([&](Context&) { (void)context.reserve_tags(1); }), refused);
  EXPECT_NO_THROW(context.expect_usable()) << "afterwards";
  ActiveRanks others(context, 1, short_interval);  // whose tag all ranks have to agree on
  EXPECT_NO_THROW(others.run([](Context&) {})) << "afterwards";
}

TEST(ActiveRanks, may_have_sleepers_among_themselves) {
  Context context(test_comm());
  const int nodes = context.topology().nodes();
  ActiveRanks outer(context, 3, short_interval);
  int calls = 0;
  outer.run([&](Context& few) {
    ActiveRanks inner(few, 1, short_interval);
    inner.run([&](Context& one) {
      ++calls;
      EXPECT_EQ(one.size(), nodes);
    });
  });
  EXPECT_EQ(plait::mpi::all_reduce(context.comm(), calls, Operation::sum()), nodes);
}

TEST(ActiveRanks, are_refused_alike_where_arguments_are_wrong_on_one_rank) {
  Context context(test_comm());
  const bool last = rank() == ranks() - 1;
  EXPECT_THROW(ActiveRanks(context, last ? 0 : 1), ArgumentError);
  EXPECT_THROW(ActiveRanks(context, 1, last ? 0us : 10us), ArgumentError);
  if (ranks() > 1) {
    EXPECT_THROW(ActiveRanks(context, last ? 3 : 1), ArgumentError);
  }
  EXPECT_NO_THROW(ActiveRanks(context, 1, last ? 5us : 10us)) << "each sleeps as it likes";
}

}  // namespace
