#include "plait/model/machine.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"

namespace plait::model {

namespace {

// Of one rank within a node, from 1 kB to 4 MB.
BandwidthCurve within_node(double scale) {
  std::vector<BandwidthCurve::Point> points{{1'000, 0.8e9},   {4'000, 2e9},       {16'000, 4e9},   {60'000, 6e9},
                                            {250'000, 6.5e9}, {1'000'000, 6.5e9}, {4'000'000, 6e9}};
  for (auto& point : points) point.bytes_per_second *= scale;
  return BandwidthCurve(std::move(points));
}

Link default_node_link() {
  Link link{.latency_seconds = 1e-6, .streams = {}};
  for (const auto& [ranks, scale] : {std::pair(1, 1.0), {2, 1.9}, {4, 3.5}, {8, 6.0}}) {
    link.streams.push_back({ranks, within_node(scale), within_node(0.6 * scale)});
  }
  return link;
}

Link default_network_link(Index unasked_bytes) {
  const BandwidthCurve one_way({{1'000, 0.15e9},
                                {4'000, 0.45e9},
                                {16'000, 0.95e9},
                                {60'000, 1.1e9},
                                {250'000, 1.15e9},
                                {1'000'000, 1.18e9},
                                {4'000'000, 1.2e9}});
  std::vector<BandwidthCurve::Point> both_ways;
  for (const BandwidthCurve::Point& point : one_way.points()) {
    if (point.message_bytes < unasked_bytes) both_ways.push_back(point);
  }
  both_ways.push_back({unasked_bytes, 1.1e9});
  for (const BandwidthCurve::Point& point : one_way.points()) {
    if (point.message_bytes > unasked_bytes)
      both_ways.push_back({point.message_bytes, std::min(point.bytes_per_second, 1e9)});
  }
  return {.latency_seconds = 20e-6, .streams = {{1, one_way, BandwidthCurve(std::move(both_ways))}}};
}

void expect_within(std::string_view name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  throw ArgumentError(fmt::format("{} is {}, expected a number from {} to {}", name, value, low, high));
}
void expect_count(std::string_view name, int value) { expect_within(name, value, 1, std::numeric_limits<int>::max()); }
void expect_rate(std::string_view name, double value) { expect_within(name, value, 1, 1e21); }

void expect_valid(std::string_view name, const Link& link) {
  expect_within(fmt::format("{}.latency_seconds", name), link.latency_seconds, 1e-12, 1e4);
  if (link.streams.empty()) throw ArgumentError(fmt::format("{}.streams is empty, expected those of 1 rank", name));
  if (link.streams.front().ranks != 1) {
    throw ArgumentError(
        fmt::format("{}.streams begins with those of {} ranks, expected 1", name, link.streams.front().ranks));
  }
  for (const Streams& streams : link.streams) {
    for (const BandwidthCurve* const curve : {&streams.one_way, &streams.both_ways}) {
      for (const auto& [bytes, rate] : curve->points())
        expect_rate(fmt::format("{}.streams of {} ranks: the rate of {} bytes", name, streams.ranks, bytes), rate);
    }
  }
  const auto unordered = std::ranges::adjacent_find(link.streams, std::ranges::greater_equal{}, &Streams::ranks);
  if (unordered == link.streams.end()) return;
  throw ArgumentError(fmt::format("{}.streams has {} ranks after {}, expected numbers that ascend", name,
                                  (unordered + 1)->ranks, unordered->ranks));
}

}  // namespace

const Streams& Link::streams_of(int ranks) const {
  PLAIT_ASSERT(ranks >= 1 && !streams.empty(), "somebody sends");
  return *(std::ranges::upper_bound(streams, ranks, {}, &Streams::ranks) - 1);
}

Machine default_machine(Index unasked_bytes) {
  return {.description = "assumed, not measured",
          .ranks_per_node = 8,
          .cores_per_node = 8,
          .numa_nodes = 1,
          .combine_bytes_per_second = 5e9,
          .read_bytes_per_second = 60e9,
          .copy_bytes_per_second = 30e9,
          .product_flops_per_second = 400e9,
          .node = default_node_link(),
          .network = default_network_link(unasked_bytes)};
}

void expect_valid(const Machine& machine) {
  expect_count("ranks_per_node", machine.ranks_per_node);
  expect_count("cores_per_node", machine.cores_per_node);
  expect_count("numa_nodes", machine.numa_nodes);
  expect_rate("combine_bytes_per_second", machine.combine_bytes_per_second);
  expect_rate("read_bytes_per_second", machine.read_bytes_per_second);
  expect_rate("copy_bytes_per_second", machine.copy_bytes_per_second);
  expect_rate("product_flops_per_second", machine.product_flops_per_second);
  expect_valid("node", machine.node);
  expect_valid("network", machine.network);
}

}  // namespace plait::model
