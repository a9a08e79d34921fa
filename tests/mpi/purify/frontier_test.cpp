#include "plait/purify/frontier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/context.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/spectrum.hpp"

#include "mpi/purify/eigensolver.hpp"
#include "mpi/purify/replicated_products.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using layout::Layout;
using test::methods;

constexpr std::array quick_at_low_filling{Method::mcweeny, Method::tc2, Method::trs4};

template <class T>
void expect_frontier(mpi::Context& context, const test::Whole<T>& whole, Index occupied) {
  const auto states = test::eigenstates(whole);
  const Layout layout = Layout::columns({whole.n, whole.n}, context.size());
  const auto h = test::distributed(context, layout, whole);
  const auto d = test::distributed(context, layout, test::density_of(states, occupied));
  const Frontier frontier = frontier_of_density(context, h, d, 1e-8);
  const auto at = [&](Index k) { return states.values[static_cast<std::size_t>(k)]; };
  constexpr double rounding = 1e-9;
  if (occupied > 0) {
    EXPECT_LE(frontier.highest_occupied, at(occupied - 1) + rounding);
    EXPECT_GE(frontier.highest_occupied + frontier.occupied_error, at(occupied - 1) - rounding);
    EXPECT_NEAR(frontier.highest_occupied, at(occupied - 1), 1e-3);
  } else {
    EXPECT_EQ(frontier.highest_occupied, -INFINITY);
  }
  if (occupied < whole.n) {
    EXPECT_GE(frontier.lowest_empty, at(occupied) - rounding);
    EXPECT_LE(frontier.lowest_empty - frontier.empty_error, at(occupied) + rounding);
    EXPECT_NEAR(frontier.lowest_empty, at(occupied), 1e-3);
  } else {
    EXPECT_EQ(frontier.lowest_empty, INFINITY);
  }
}

TEST(Frontier, IsFoundFromADensityMatrix) {
  mpi::Context context(test::test_comm());
  expect_frontier(context, test::c60(), 30);
  expect_frontier(context, test::gapped_graphene(6, 6), 36);
  for (const Index occupied : {0, 1, 4, 29, 30}) {
    expect_frontier(context, test::prescribed<double>(test::spectrum_with_gap(30, std::max(Index{1}, occupied), 0.1)),
                    occupied);
  }
  expect_frontier(context, test::prescribed<std::complex<double>>(test::spectrum_with_gap(25, 7, 0.1)), 7);
}

TEST(Frontier, IsFoundWhereStatesHaveNoEnergy) {
  mpi::Context context(test::test_comm());
  for (const double other : {1.0, -1.0}) {
    test::Whole<double> whole{2};
    whole(0, 0) = std::min(other, 0.0);
    whole(1, 1) = std::max(other, 0.0);
    expect_frontier(context, whole, 1);
  }
}

std::vector<double> levels(double first, double last, int count) {
  std::vector<double> result;
  for (int i = 0; i < count; ++i) result.push_back(first + (last - first) * i / std::max(1, count - 1));
  return result;
}

std::vector<double> joined(std::vector<double> low, const std::vector<double>& high) {
  low.insert(low.end(), high.begin(), high.end());
  return low;
}

/// Purifies by every method and compares the states at the gap with the eigenvalues.
template <class T>
void expect_resolved(mpi::Context& context, const std::vector<double>& eigenvalues, Index occupied,
                     std::span<const Method> by = methods) {
  const auto whole = test::prescribed<T>(eigenvalues);
  const auto states = test::eigenstates(whole);
  const double highest = states.values[static_cast<std::size_t>(occupied) - 1];
  const double lowest = states.values[static_cast<std::size_t>(occupied)];
  const Layout layout = Layout::rows({whole.n, whole.n}, context.size());
  test::ReplicatedProducts<T> products(context, layout);
  const auto h = test::distributed(context, layout, whole);
  const Interval spectrum = spectrum_of(context, h, Bounds::lanczos);
  const double rounding = 4e-15 * spectrum.width() * std::sqrt(static_cast<double>(whole.n));
  const double slack = std::max(2e-6 * (lowest - highest), rounding);
  for (const Method method : by) {
    Purification<T> purification(products, h, {method, occupied, spectrum, highest / 2 + lowest / 2});
    while (purification.advance()) purification.follow_frontier();
    const Frontier frontier = purification.frontier();
    const std::string what(name(method));
    EXPECT_TRUE(frontier.is_resolved(spectrum.width())) << what;
    EXPECT_NEAR(frontier.highest_occupied, highest, slack) << what;
    EXPECT_NEAR(frontier.lowest_empty, lowest, slack) << what;
    const Interval none = purification.state().chemical_potentials();
    EXPECT_LE(frontier.gap().low, std::max(frontier.gap().high, none.width())) << what;
    EXPECT_LE(none.width(), frontier.gap().high + rounding) << what;
  }
}

TEST(Frontier, IsResolvedWhereLanczosOfTheHamiltonianIsNot) {
  mpi::Context context(test::test_comm());
  const int n = test::ranks() == 1 ? 100 : 60;
  // In a wide band, below many empty states, beside one state far away, in spectra without steps.
  expect_resolved<double>(context, joined(levels(-750, -0.25, n), levels(0.25, 750, n)), n);
  expect_resolved<double>(context, joined(levels(-1, -0.1, 10), joined(levels(0.1, 2, n), levels(1e3, 1e6, n))), 10,
                          quick_at_low_filling);
  expect_resolved<double>(context, joined({-1e5}, joined(levels(-1, -0.1, n), levels(0.1, 1, n))), n + 1);
  expect_resolved<double>(context, test::spectrum_with_gap(2 * n, n, 0.1), n);
  expect_resolved<std::complex<double>>(context, test::spectrum_with_gap(n, n / 3, 0.01), n / 3);
  // States that are degenerate, nearly degenerate, or the only ones.
  expect_resolved<double>(context, joined({-1, -1, -1, -1}, {1, 1, 1}), 4);
  expect_resolved<double>(context, joined(levels(-0.5, -0.5 + 1e-7, 5), levels(0.5, 1, 20)), 5);
  expect_resolved<double>(context, joined({-3}, {2}), 1);
}

TEST(Frontier, IsFoundAcrossGapsOfEverySize) {
  mpi::Context context(test::test_comm());
  for (const double gap : {1e-3, 1e-6, 1e-9, 1e-10, 1e-11, 2e-12}) {
    // A pair in the middle, which is between 0 and 1 for as long as can be.
    const std::vector<double> pair = joined(levels(-1, -0.3, 8), joined({-gap, gap}, levels(0.3, 1, 8)));
    expect_resolved<double>(context, pair, 9);
    expect_resolved<std::complex<double>>(context, pair, 9);
    expect_resolved<double>(context, joined({-1, -gap}, {gap, 1}), 2);
    expect_resolved<double>(context, joined(levels(-1, 0.2 - gap, 5), levels(0.2 + gap, 1, 12)), 5);
  }
}

TEST(Frontier, IsBoundedWhereItIsNotResolved) {
  mpi::Context context(test::test_comm());
  // By a chemical potential next to the highest occupied state, so that the lowest empty one never stands out.
  const int n = 300;
  std::vector<double> band = levels(0, 1, n);
  for (double& level : band) level = 1 + 5000 * level * level;
  const auto whole = test::prescribed<double>(joined(levels(-1, 0, 20), band));
  const Layout layout = Layout::rows({whole.n, whole.n}, context.size());
  test::ReplicatedProducts<double> products(context, layout);
  const auto h = test::distributed(context, layout, whole);
  const Interval spectrum = spectrum_of(context, h, Bounds::lanczos);
  Purification<double> purification(products, h, {Method::mcweeny, 20, spectrum, 1e-5});
  while (purification.advance()) purification.follow_frontier();
  const Frontier frontier = purification.frontier();
  const double rounding = 1e-12 * spectrum.width();
  EXPECT_FALSE(frontier.is_resolved(spectrum.width()));
  EXPECT_LE(frontier.highest_occupied, rounding);
  EXPECT_GE(frontier.highest_occupied + frontier.occupied_error, -rounding);
  EXPECT_GE(frontier.lowest_empty, 1 - rounding);
  EXPECT_LE(frontier.lowest_empty - frontier.empty_error, 1 + rounding);
}

}  // namespace
}  // namespace plait::purify
