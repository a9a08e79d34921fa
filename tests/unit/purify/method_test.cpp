#include "plait/purify/method.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plait::purify {
namespace {

Traces traces_of(const std::vector<double>& occupations) {
  Traces traces;
  for (const double x : occupations) {
    traces.first += x;
    traces.second += x * x;
    traces.third += x * x * x;
    traces.fourth += x * x * x * x;
  }
  return traces;
}

TEST(FrontierOfTraces, HoldsTheStatesAtTheGapOfAnySetOfOccupations) {
  std::mt19937_64 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in every run
  std::uniform_real_distribution<double> uniform(0, 1);
  int bounded = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    std::vector<double> x(2 + random() % 40);
    const double steepness = std::exp(6 * uniform(random) - 3);  // from all near the middle to all near 0 and 1
    const double levels = static_cast<double>(2 + random() % 30);
    for (double& each : x) {
      const double u = uniform(random);
      each = u < 0.5 ? std::pow(2 * u, steepness) / 2 : 1 - std::pow(2 - 2 * u, steepness) / 2;
      if (trial % 3 == 0) each = std::round(levels * each) / levels;
    }
    std::ranges::sort(x, std::greater{});
    for (std::size_t occupied = 1; occupied < x.size(); ++occupied) {
      const Interval found = frontier_of_traces(traces_of(x), static_cast<Index>(occupied), std::ssize(x));
      ASSERT_LE(found.low, x[occupied] + 1e-12) << trial << ' ' << occupied;
      ASSERT_GE(found.high, x[occupied - 1] - 1e-12) << trial << ' ' << occupied;
      bounded += (found.low > 0 ? 1 : 0) + (found.high < 1 ? 1 : 0);
    }
  }
  EXPECT_GT(bounded, 20'000);
}

TEST(FrontierOfTraces, IsNearThreeLevelsThatTheTracesTellAlone) {
  const std::vector<double> x{.9, .9, .6, .6, .1, .1, .1};
  EXPECT_EQ(frontier_of_traces(traces_of(x), 2, 7).low, 38. / 64);  // .594
  EXPECT_EQ(frontier_of_traces(traces_of(x), 4, 7).high, 1 - 25. / 64);
}

/// Half of n states from -1 to 1, with a gap of so much of the width.
std::vector<double> energies_with_gap(Index n, double gap) {
  std::vector<double> energies;
  for (Index k = 0; k < n / 2; ++k)
    energies.push_back(gap + (1 - gap) * static_cast<double>(k) / static_cast<double>(n / 2 - 1));
  for (Index k = 0; k < n / 2; ++k) energies.push_back(-energies[static_cast<std::size_t>(k)]);
  std::ranges::sort(energies);
  return energies;
}

TEST(Tc2, TakesAFifthToAThirdFewerProductsByWhatItsTracesTellOfTheGap) {
  struct Case {
    double gap;
    Index monotone, most, known;  // without folding, by traces at most, and with the states at the gap known at most
  };
  for (const Index n : {100, 400, 2000}) {
    for (const Case& one : {Case{.1, 22, 18, 16}, {1e-2, 34, 26, 20}, {1e-4, 56, 42, 29}, {1e-6, 78, 56, 38}}) {
      auto energies = energies_with_gap(n, one.gap);
      const auto by_traces = products_needed(Method::tc2, energies, n / 2);
      energies = energies_with_gap(n, one.gap);
      const auto known = products_needed(Method::tc2, energies, n / 2, true);
      ASSERT_TRUE(by_traces && known);
      EXPECT_LE(*by_traces, one.most) << n << ' ' << one.gap;
      EXPECT_LE(6 * *by_traces, 5 * one.monotone) << n << ' ' << one.gap;
      EXPECT_LE(*known, one.known) << n << ' ' << one.gap;
    }
  }
}

}  // namespace
}  // namespace plait::purify
