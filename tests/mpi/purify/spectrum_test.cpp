#include "plait/purify/spectrum.hpp"

#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"
#include "plait/purify/lanczos.hpp"

#include "mpi/purify/eigensolver.hpp"
#include "mpi/purify/replicated_products.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using layout::Layout;

template <class T>
void expect_bounds(mpi::Context& context, const test::Whole<T>& whole) {
  const auto states = test::eigenstates(whole);
  const auto h = test::distributed(context, Layout::rows({whole.n, whole.n}, context.size()), whole);
  const Interval wide = spectrum_of(context, h, Bounds::gershgorin);
  const Interval narrow = spectrum_of(context, h, Bounds::lanczos);
  for (const Interval& interval : {wide, narrow}) {
    EXPECT_LE(interval.low, states.values.front() + 1e-12);
    EXPECT_GE(interval.high, states.values.back() - 1e-12);
  }
  EXPECT_LE(narrow.width(), wide.width());
  EXPECT_LT(narrow.width(), 1.3 * (states.values.back() - states.values.front()) + 1e-9);
}

TEST(Spectrum, LiesWithinItsBounds) {
  mpi::Context context(test::test_comm());
  expect_bounds(context, test::polyacetylene(150));
  expect_bounds(context, test::gapped_graphene(6, 6));
  expect_bounds(context, test::c60());
  expect_bounds(context, test::prescribed<double>({-3}));
  expect_bounds(context, test::prescribed<double>({-3, 5}));
  expect_bounds(context, test::prescribed<double>(test::spectrum_with_gap(80, 3, 0.5)));
  expect_bounds(context, test::prescribed<std::complex<double>>(test::spectrum_with_gap(33, 30, 0.4)));
}

TEST(Spectrum, IsRefusedWhereSquaresLeaveTheRangeOfNumbers) {
  mpi::Context context(test::test_comm());
  for (const double scale : {1e160, 1e-160}) {
    test::Whole<double> whole = test::polyacetylene(10);
    for (double& element : whole.elements) element *= scale;
    const auto h = test::distributed(context, Layout::rows({whole.n, whole.n}, context.size()), whole);
    EXPECT_THROW(static_cast<void>(spectrum_of(context, h, Bounds::lanczos)), ArgumentError);
  }
}

template <class T>
void expect_frontier(mpi::Context& context, const test::Whole<T>& whole, Index occupied) {
  const auto states = test::eigenstates(whole);
  const Layout layout = Layout::columns({whole.n, whole.n}, context.size());
  const auto h = test::distributed(context, layout, whole);
  const auto d = test::distributed(context, layout, test::density_of(states, occupied));
  const Frontier frontier = frontier_of(context, h, d, 1e-8);
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

TEST(Spectrum, HasItsFrontierFound) {
  mpi::Context context(test::test_comm());
  expect_frontier(context, test::c60(), 30);
  expect_frontier(context, test::gapped_graphene(6, 6), 36);
  for (const Index occupied : {0, 1, 4, 29, 30}) {
    expect_frontier(context, test::prescribed<double>(test::spectrum_with_gap(30, std::max(Index{1}, occupied), 0.1)),
                    occupied);
  }
  expect_frontier(context, test::prescribed<std::complex<double>>(test::spectrum_with_gap(25, 7, 0.1)), 7);
}

}  // namespace
}  // namespace plait::purify
