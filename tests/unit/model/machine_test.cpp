#include "plait/model/machine.hpp"

#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace {

using namespace plait::model;

TEST(Machines, by_default_are_valid_and_say_that_nothing_was_measured) {
  const Machine machine = default_machine();
  EXPECT_NO_THROW(expect_valid(machine));
  EXPECT_FALSE(machine.node.measured);
  EXPECT_FALSE(machine.network.measured);
  EXPECT_LT(machine.node.latency_seconds, machine.network.latency_seconds);
}

TEST(Machines, are_refused_with_the_member_that_is_wrong) {
  const auto expect_refused = [](const std::function<void(Machine&)>& spoil, const char* why) {
    Machine machine = default_machine();
    spoil(machine);
    EXPECT_THAT(plait::test::message_of<plait::ArgumentError>([&] { expect_valid(machine); }), why);
  };
  expect_refused([](Machine& m) { m.numa_nodes = 0; }, "numa_nodes is 0, expected a number from 1 to 2147483647");
  expect_refused([](Machine& m) { m.copy_bytes_per_second = std::numeric_limits<double>::quiet_NaN(); },
                 "copy_bytes_per_second is nan, expected a number from 1 to 1e+21");
  expect_refused([](Machine& m) { m.network.latency_seconds = -1; },
                 "network.latency_seconds is -1, expected a number from 1e-12 to 10000");
  expect_refused([](Machine& m) { m.read_bytes_per_second = 1e-310; },
                 "read_bytes_per_second is 1e-310, expected a number from 1 to 1e+21");
  expect_refused([](Machine& m) { m.node.streams.clear(); }, "node.streams is empty, expected those of 1 rank");
  expect_refused([](Machine& m) { m.node.streams.erase(m.node.streams.begin()); },
                 "node.streams begins with those of 2 ranks, expected 1");
  expect_refused([](Machine& m) { m.node.streams.push_back(m.node.streams[1]); },
                 "node.streams has 2 ranks after 8, expected numbers that ascend");
}

TEST(Links, have_streams_of_as_many_ranks_as_were_measured) {
  const Link link = default_machine().node;
  for (const auto& [asked, found] : {std::pair(1, 1), {2, 2}, {3, 2}, {7, 4}, {8, 8}, {1000, 8}}) {
    EXPECT_EQ(link.streams_of(asked).ranks, found) << asked;
  }
}

}  // namespace
