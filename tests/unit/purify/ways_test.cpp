#include "plait/purify/ways.hpp"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plait::purify {
namespace {

using model::Machine;
using model::Placement;

double seconds_of(const std::vector<Way>& all, std::string_view what) {
  const auto found = std::ranges::find(all, what, [](const Way& way) { return name(way); });
  return found == all.end() ? -1 : found->seconds;
}

enum class Place { one_rank, two_ranks, four_ranks, slow_nodes, fast_nodes };

/// Seconds by `./dev bench purify` on two cores of an Intel Xeon: half filled, the least of all runs. TC2 made as many
/// products as canonical then, 22 and 78, since it made nothing of traces.
struct Case {
  Index n;
  double gap;
  Place place;
  double eigen, canonical, tc2;
};
constexpr Case measured[] = {
    {500, 0.1, Place::one_rank, 0.043, 0.119, 0.122},     {500, 0.1, Place::two_ranks, 0.0466, 0.128, 0.118},
    {500, 0.1, Place::four_ranks, 0.0706, 0.161, 0.236},  {500, 0.1, Place::slow_nodes, 0.0902, 0.85, 0.956},
    {500, 0.1, Place::fast_nodes, 0.0934, 0.531, 0.606},  {500, 1e-06, Place::one_rank, 0.044, 0.322, 0.31},
    {500, 1e-06, Place::two_ranks, 0.0526, 0.336, 0.388}, {500, 1e-06, Place::four_ranks, 0.0668, 0.394, 0.471},
    {500, 1e-06, Place::slow_nodes, 0.153, 2.04, 1.47},   {500, 1e-06, Place::fast_nodes, 0.0849, 2.76, 2.58},
    {1000, 0.1, Place::one_rank, 0.178, 0.78, 0.823},     {1000, 0.1, Place::two_ranks, 0.183, 0.789, 0.848},
    {1000, 0.1, Place::four_ranks, 0.32, 0.643, 0.753},   {1000, 0.1, Place::slow_nodes, 0.679, 2.09, 2.89},
    {1000, 0.1, Place::fast_nodes, 0.329, 1.38, 1.69},    {1000, 1e-06, Place::one_rank, 0.162, 2.06, 2.25},
    {1000, 1e-06, Place::two_ranks, 0.241, 2.09, 1.87},   {1000, 1e-06, Place::four_ranks, 0.261, 1.7, 1.65},
    {1000, 1e-06, Place::slow_nodes, 0.446, 5.8, 6.54},   {1000, 1e-06, Place::fast_nodes, 0.412, 4.48, 4.54},
    {2000, 0.1, Place::one_rank, 1.19, 5.06, 5.42},       {2000, 0.1, Place::two_ranks, 1.24, 4.1, 3.95},
    {2000, 0.1, Place::four_ranks, 1.74, 4.15, 4.43},     {2000, 0.1, Place::slow_nodes, 2.42, 8.45, 9.8},
    {2000, 0.1, Place::fast_nodes, 1.83, 7.11, 8.21},     {2000, 1e-06, Place::one_rank, 1.17, 15.9, 14.6},
    {2000, 1e-06, Place::two_ranks, 1.15, 9.17, 7.64},    {2000, 1e-06, Place::four_ranks, 1.47, 9.97, 10},
    {2000, 1e-06, Place::slow_nodes, 2.23, 19.9, 19.3},   {2000, 1e-06, Place::fast_nodes, 1.87, 14.5, 15.5},
    {4000, 0.1, Place::one_rank, 7.83, 34.6, 37.4},       {4000, 0.1, Place::two_ranks, 6.95, 24.8, 29.8},
    {4000, 0.1, Place::four_ranks, 13.5, 27, 25.7},       {4000, 0.1, Place::slow_nodes, 14.5, 32.5, 35},
    {4000, 0.1, Place::fast_nodes, 12.1, 29.4, 32},       {4000, 1e-06, Place::one_rank, 8.04, 115, 115},
    {4000, 1e-06, Place::two_ranks, 8.46, 86.2, 78.8},    {4000, 1e-06, Place::four_ranks, 12.5, 65.7, 64.2},
    {4000, 1e-06, Place::slow_nodes, 13.7, 97.4, 89.5},   {4000, 1e-06, Place::fast_nodes, 10.8, 70.7, 80.5},
};

/// As `plait machine` finds it on two ranks. Nodes that share the two cores have a quarter of what these can do.
Machine machine_of(Place place) {
  Machine machine = model::default_machine();
  const bool is_emulated = place >= Place::slow_nodes;
  machine.cores_per_node = 2;
  machine.product_flops_per_second = 110e9 / (is_emulated ? 4 : 1);
  machine.read_bytes_per_second = 21e9 / (is_emulated ? 4 : 1);
  if (place == Place::slow_nodes) {
    const model::BandwidthCurve slow({{1'000, 50e6}, {16'000, 110e6}, {1'000'000, 117e6}});
    machine.network.streams = {{1, slow, slow}};
  }
  return machine;
}
Placement placement_of(Place place) {
  if (place >= Place::slow_nodes) return {4, 1};
  const int ranks = place == Place::one_rank ? 1 : place == Place::two_ranks ? 2 : 4;
  return {ranks, ranks};
}

Index products(Method method, double gap) {
  std::vector<double> energies;
  for (int k = 0; k < 100; ++k) energies.push_back(k * (1 - gap) / 198);
  for (int k = 99; k >= 0; --k) energies.push_back(1 - k * (1 - gap) / 198);
  return products_needed(method, energies, 100).value();
}

/// All that were measured, TC2 with the products that it makes, and those of a gap between by their products.
std::vector<Case> cases() {
  std::vector<Case> all(std::begin(measured), std::end(measured));
  for (Case& one : all) one.tc2 *= static_cast<double>(products(Method::tc2, one.gap)) / (one.gap > 1e-3 ? 22 : 78);
  for (Case one : measured) {
    if (one.gap < 1e-3) continue;
    one = *std::ranges::find_if(
        all, [&](const Case& same) { return same.n == one.n && same.place == one.place && same.gap == one.gap; });
    for (const auto& [method, seconds] : {std::pair{Method::canonical, &one.canonical}, {Method::tc2, &one.tc2}})
      *seconds *= static_cast<double>(products(method, 1e-3)) / static_cast<double>(products(method, one.gap));
    one.gap = 1e-3;
    all.push_back(one);
  }
  return all;
}

TEST(WaysToADensityMatrix, AreChosenAsMeasuredTimesTell) {
  Machine assumed = model::default_machine();
  assumed.product_flops_per_second *= 2. / assumed.cores_per_node;
  assumed.cores_per_node = 2;
  for (const Case& one : cases()) {
    for (const Machine& machine : {machine_of(one.place), assumed}) {
      const auto all = ways(machine, placement_of(one.place), {.states = one.n, .occupied = one.n / 2});
      const double taken = !all[0].method ? one.eigen : all[0].method == Method::tc2 ? one.tc2 : one.canonical;
      EXPECT_LE(taken, 1.2 * std::min({one.eigen, one.canonical, one.tc2}))
          << name(all[0]) << ' ' << one.n << ' ' << static_cast<int>(one.place);
    }
  }
}

TEST(WaysToADensityMatrix, TakeAsLongOnOneNodeAsMeasured) {
  for (const Case& one : cases()) {
    if (one.place >= Place::slow_nodes || one.gap == 1e-3) continue;  // of the latter nothing was measured
    const auto all =
        ways(machine_of(one.place), placement_of(one.place), {.states = one.n, .occupied = one.n / 2, .gap = one.gap});
    const auto expect_near = [&](const char* what, double seconds, double factor) {
      EXPECT_LT(std::abs(std::log(seconds_of(all, what) / seconds)), std::log(factor))
          << what << ' ' << one.n << ' ' << one.gap << ' ' << static_cast<int>(one.place) << ' '
          << seconds_of(all, what);
    };
    expect_near("eigen", one.eigen, 2);
    expect_near("canonical", one.canonical, one.n < 1000 ? 3 : 2);
    expect_near("tc2", one.tc2, one.n < 1000 ? 3 : 2);
  }
}

/// Nodes of 8 cores, with links that are so many times as fast as those of 10 Gb/s.
Machine with_links(double times) {
  Machine machine = model::default_machine();
  machine.network.latency_seconds /= times;
  const auto faster = [times](const model::BandwidthCurve& curve) {
    std::vector<model::BandwidthCurve::Point> points(curve.points().begin(), curve.points().end());
    for (auto& point : points) point.bytes_per_second *= times;
    return model::BandwidthCurve(points);
  };
  for (model::Streams& streams : machine.network.streams) {
    streams = {streams.ranks, faster(streams.one_way), faster(streams.both_ways)};
  }
  return machine;
}

TEST(WaysToADensityMatrix, AreEigenstatesOnFewRanksAndIterationsOnManyWithFastLinks) {
  const auto first = [](const Machine& machine, Placement placement, const Prospect& prospect) {
    return std::string(name(ways(machine, placement, prospect)[0]));
  };
  const Machine usual = model::default_machine();
  EXPECT_EQ(first(usual, {1, 1}, {.states = 500, .occupied = 250}), "eigen");
  EXPECT_EQ(first(with_links(.01), {4, 1}, {.states = 500, .occupied = 250}), "eigen") << "100 Mb/s";
  EXPECT_EQ(first(usual, {9, 9}, {.states = 500, .occupied = 250}), "eigen") << "more ranks than cores";
  for (const int ranks : {1, 4}) {
    EXPECT_EQ(first(usual, {ranks, ranks}, {.states = 60, .occupied = 30, .iterates = true}), "tc2");
  }
  const Prospect many{.states = 4000, .occupied = 2000, .gap = .1};
  EXPECT_NE(first(with_links(20), {64, 8}, many), "eigen");
  EXPECT_EQ(first(with_links(20), {16, 8}, many), "eigen");
}

TEST(WaysToADensityMatrix, TakeLongerForMoreOrLargerElementsAndIterationsForSmallerGaps) {
  const Machine machine = model::default_machine();
  for (const Placement& placement : {Placement{1, 1}, Placement{8, 8}, Placement{5, 1}, Placement{64, 8}}) {
    const auto all = [&](const Prospect& prospect) { return ways(machine, placement, prospect); };
    const Prospect some{.states = 1000, .occupied = 300, .gap = .01};
    Prospect more = some, floats = some, complex = some, narrow = some, known = some, none = some;
    more.states = 1100, more.occupied = 330;
    floats.dtype = DType::f32;
    complex.dtype = DType::c128;
    narrow.gap = 1e-4;
    known.knows_frontier = true;
    none.gap = 0;
    for (const char* const way : {"eigen", "canonical", "tc2"}) {
      const double seconds = seconds_of(all(some), way);
      EXPECT_GT(seconds, 0) << way;
      EXPECT_GT(seconds_of(all(more), way), seconds) << way;
      EXPECT_LT(seconds_of(all(floats), way), seconds) << way;
      EXPECT_GT(seconds_of(all(complex), way), seconds) << way;
      if (std::string_view(way) == "eigen") {
        EXPECT_EQ(seconds_of(all(narrow), way), seconds);
        EXPECT_EQ(seconds_of(all(none), way), seconds);
      } else {
        EXPECT_GT(seconds_of(all(narrow), way), seconds) << way;
        EXPECT_EQ(seconds_of(all(none), way), std::numeric_limits<double>::infinity()) << way;
      }
    }
    EXPECT_LT(seconds_of(all(known), "tc2"), seconds_of(all(some), "tc2"));
    EXPECT_EQ(seconds_of(all(known), "canonical"), seconds_of(all(some), "canonical"));
  }
}

TEST(WaysToADensityMatrix, AreIterationsWhereNoneHasStatesToFind) {
  const Machine machine = model::default_machine();
  for (const Index occupied : {0, 1, 2, 3}) {
    const auto all = ways(machine, {2, 2}, {.states = 3, .occupied = occupied, .iterates = true});
    EXPECT_EQ(all.size(), 2);
    EXPECT_TRUE(std::isfinite(all[1].seconds));
    EXPECT_EQ(all[0].seconds == 0, occupied % 3 == 0);
  }
  EXPECT_EQ(ways(machine, {1, 1}, {.iterates = true})[0].seconds, 0);
}

}  // namespace
}  // namespace plait::purify
