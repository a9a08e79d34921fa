#include "plait/iterate/asynchronous_descent.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using iterate::AsynchronousDescent;
using iterate::Exchange;
using State = std::vector<double>;

class Descent : public ::testing::Test {
 protected:
  /// The second rank steps along nothing, so that the first one has its state; then that one steps.
  void step_of_first(AsynchronousDescent& descent, State& w, const State& gradient, double length) {
    State still(w.size());
    if (rank() == 1) descent.step(still, still, 1, 1);
    mpi::barrier(context_.comm());
    if (rank() == 0) descent.step(w, gradient, length, 1);
    mpi::barrier(context_.comm());
  }

  mpi::Context context_{test_comm()};
};

TEST_F(Descent, goes_towards_the_mean_with_states_that_its_step_comes_nearer_to) {
  if (ranks() != 2) return;  // only then is it sure who gets a state
  AsynchronousDescent descent(context_, 2, 7, Exchange::states);
  descent.begin(100, 50);
  State w{1, 2};
  step_of_first(descent, w, {1, 0}, 0.25);  // w - ε (w - (w + 0) / 2) - ε Δ
  if (rank() == 0) {
    EXPECT_EQ(w, (State{1 - 0.125 - 0.25, 2 - 0.25}));
    EXPECT_EQ(descent.mixed(), 1);
  }
  w = {1, 2};
  step_of_first(descent, w, {1, 0}, 1.5);  // no farther than the mean
  EXPECT_TRUE(rank() != 0 || w == (State{0.5 - 1.5, 1}));
}

TEST_F(Descent, leaves_out_states_that_it_goes_away_from_or_that_are_of_another_epoch) {
  if (ranks() != 2) return;
  AsynchronousDescent descent(context_, 2, 7, Exchange::states);
  descent.begin(100, 50);
  State w{1, 2};
  step_of_first(descent, w, {-1, 0}, 0.25);
  if (rank() == 0) {
    EXPECT_EQ(w, (State{1.25, 2}));
    EXPECT_EQ(descent.outside(), 1);
  }
  if (rank() == 0) descent.begin(100, 50);
  w = {1, 2};
  step_of_first(descent, w, {1, 0}, 0.25);
  EXPECT_TRUE(rank() != 0 || w == (State{0.75, 2}));
  EXPECT_EQ(descent.mixed(), 0);
}

TEST_F(Descent, goes_to_the_mean_with_whatever_comes_in_gossip) {
  if (ranks() != 2) return;
  AsynchronousDescent descent(context_, 2, 7, Exchange::gossip);
  descent.begin(100, 50);
  State w{1, 2};
  step_of_first(descent, w, {-1, 0}, 0.25);  // of a state that the step goes away from
  EXPECT_TRUE(rank() != 0 || w == (State{0.5 + 0.25, 1}));
}

TEST_F(Descent, has_the_steps_of_all_ranks_where_there_is_a_server) {
  AsynchronousDescent descent(context_, 1, 7, Exchange::server);
  for (int epoch = 0; epoch < 3; ++epoch) {
    descent.begin(1'000'000, 1'000'000);
    State w{5};
    // Each rank has made as many steps as its number and two more; then turns, until all know of all.
    for (int i = 0; i < rank() + 2; ++i) descent.step(w, State{1}, 1, 1);
    const auto own = static_cast<double>(rank() + 2);
    EXPECT_EQ(descent.way()[0], -own);
    const double all = mpi::all_reduce(context_.comm(), own, mpi::Operation::sum());
    for (bool are_all_there = false; !are_all_there;) {
      descent.step(w, State{0}, 1, 0);  // which goes nowhere, and tells
      are_all_there = mpi::all_reduce(context_.comm(), w[0] == 5 - all ? 1 : 0, mpi::Operation::minimum()) == 1;
    }
    EXPECT_EQ(descent.way()[0], -own);
  }
}

TEST_F(Descent, takes_no_state_without_exchange) {
  AsynchronousDescent descent(context_, 1, 7, Exchange::nothing);
  descent.begin(1000, 1000 / ranks() + 1);
  State w{1};
  Index steps = 0;
  for (; descent.goes_on(); ++steps) descent.step(w, State{0.5}, 0.5, 10);
  EXPECT_EQ(w[0], 1 - 0.25 * static_cast<double>(steps));
  EXPECT_EQ(descent.mixed() + descent.outside(), 0);
}

TEST_F(Descent, ends_an_epoch_without_the_steps_of_a_rank_that_does_none) {
  for (const Exchange exchange : {Exchange::states, Exchange::gossip, Exchange::server}) {
    AsynchronousDescent descent(context_, 3, 7, exchange);
    State w(3);
    const Index own = 100 / ranks() + 1;
    for (int epoch = 0; epoch < 5; ++epoch) {
      descent.begin(100, own);
      Index used = 0;
      while (descent.goes_on()) {
        if (rank() == 0 && ranks() > 1) continue;
        descent.step(w, State(3, 1), 0.5, 7);
        used += 7;
      }
      EXPECT_LT(used, 2 * own + 7);
      EXPECT_GE(mpi::all_reduce(context_.comm(), used, mpi::Operation::sum()), 100);
    }
  }
}

}  // namespace
}  // namespace plait::test
