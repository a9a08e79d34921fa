#include "plait/model/halo.hpp"

#include <gtest/gtest.h>

namespace {

using namespace plait::model;
using plait::Index;

// Numbers that can be followed by hand: 3 s and 2 B/s between nodes, 1 s and 8 B/s within, and 16 B/s from memory.
Machine machine_of_a_grid() {
  Machine machine = default_machine();
  const BandwidthCurve far({{1, 2}}), near({{1, 8}});
  machine.network = {.latency_seconds = 3, .streams = {{1, far, far}}};
  machine.node = {.latency_seconds = 1, .streams = {{1, near, near}}};
  machine.read_bytes_per_second = 16;
  return machine;
}

const GhostedSteps square{
    .extents = {1, 10, 10}, .is_cut = {false, true, true}, .bytes_sent_a_point = 1, .bytes_moved_a_point = 1};

TEST(GhostedSteps, cost_what_one_exchange_and_layers_less_and_less_take) {
  const Placement spread{4, 1}, node{2, 2};
  EXPECT_DOUBLE_EQ(seconds_a_step(square, machine_of_a_grid(), spread, 1),
                   3 + 2 * 10 / 2. + 3 + 2 * 12 / 2. + 100 / 16.);
  EXPECT_DOUBLE_EQ(seconds_a_step(square, machine_of_a_grid(), spread, 2),
                   (3 + 2 * 20 / 2. + 3 + 2 * 28 / 2. + 100 / 16. + 144 / 16.) / 2);
  EXPECT_DOUBLE_EQ(seconds_a_step(square, machine_of_a_grid(), node, 1), 1 + 2 * 10 / 8. + 1 + 2 * 12 / 8. + 100 / 8.);
}

TEST(GhostedSteps, are_more_the_more_a_message_costs_and_one_where_there_is_none) {
  Machine machine = machine_of_a_grid();
  GhostedSteps alone = square;
  alone.is_cut = {};
  EXPECT_EQ(best_steps_per_exchange(alone, machine, {1, 1}, 16), 1);
  Index before = 1;
  for (const double latency : {1e-3, 10., 100., 1e6}) {
    machine.network.latency_seconds = latency;
    const Index steps = best_steps_per_exchange(square, machine, {4, 1}, 16);
    EXPECT_GE(steps, before);
    before = steps;
  }
  EXPECT_EQ(before, 16);
}

}  // namespace
