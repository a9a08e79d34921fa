#include "plait/purify/sequence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/mpi/context.hpp"

#include "mpi/purify/eigensolver.hpp"
#include "mpi/purify/replicated_products.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using layout::Layout;

/// One purification, compared with the eigenstates; returns its number of products.
template <class T>
Index expect_purified(mpi::Context& context, const test::Whole<T>& whole, Purification<T>& purification) {
  const Index occupied = purification.state().problem.occupied;
  while (purification.advance()) purification.follow_frontier();
  const auto states = test::eigenstates(whole);
  const auto expected = test::density_of(states, occupied).elements;
  const auto found = test::gathered(context, purification.density()).elements;
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) largest = std::max(largest, std::abs(found[i] - expected[i]));
  EXPECT_LT(largest, 1e-9);
  const double highest = states.values[static_cast<std::size_t>(occupied) - 1];
  const double lowest = states.values[static_cast<std::size_t>(occupied)];
  const double slack = 2e-6 * (lowest - highest) + 1e-13 * purification.state().problem.spectrum.width();
  const Frontier frontier = purification.frontier();
  EXPECT_NEAR(frontier.highest_occupied, highest, slack);
  EXPECT_NEAR(frontier.lowest_empty, lowest, slack);
  const Interval none = purification.state().chemical_potentials();
  EXPECT_GT(none.low, highest - slack);
  EXPECT_LT(none.high, lowest + slack);
  EXPECT_LT(none.low, none.high);
  return purification.multiplications();
}

template <class T>
void expect_fewer_products(mpi::Context& context, double gap, Index occupied) {
  const Index n = 60;
  const Layout layout = Layout::columns({n, n}, context.size());
  test::ReplicatedProducts<T> products(context, layout);
  auto energies = test::spectrum_with_gap(n, occupied, gap);
  const auto whole = test::prescribed<T>(energies);
  const auto h = test::distributed(context, layout, whole);
  std::ranges::sort(energies);
  const auto below = static_cast<std::size_t>(occupied) - 1;
  std::vector<Index> taken;
  for (const double beyond : {1e300, 10.0, 1.0, 0.0}) {
    Problem problem{Method::tc2, occupied, spectrum_of(context, h, Bounds::lanczos)};
    if (beyond < 1e300) {
      const double reach = beyond * gap + 1e-12;
      problem.frontier_within = Interval{energies[below] - reach, energies[below + 1] + reach};
    }
    Purification<T> purification(products, h, problem);
    taken.push_back(expect_purified(context, whole, purification));
  }
  for (std::size_t i = 1; i < taken.size(); ++i) EXPECT_LE(taken[i], taken[i - 1]) << "gap " << gap;
  EXPECT_LE(taken.back(), taken.front() * 9 / 10) << "gap " << gap;
}

TEST(FrontierThatIsKnown, SavesProductsOfTc2BeyondWhatTracesTell) {
  mpi::Context context(test::test_comm());
  for (const double gap : {0.1, 1e-2, 1e-4, 1e-6}) {
    for (const Index occupied : {6, 30, 50}) expect_fewer_products<double>(context, gap, occupied);
  }
  expect_fewer_products<std::complex<double>>(context, 1e-3, 20);
}

TEST(FrontierThatIsKnown, MixesNoStateFarFromTheGapWithOneAtIt) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({60, 60}, context.size());
  test::ReplicatedProducts<double> products(context, layout);
  for (const double gap : {1e-4, 1e-6, 1e-8, 1e-9}) {
    auto energies = test::spectrum_with_gap(60, 30, gap);
    const auto h = test::distributed(context, layout, test::prescribed<double>(energies));
    std::ranges::sort(energies);
    Problem problem{Method::tc2, 30, spectrum_of(context, h, Bounds::lanczos)};
    problem.frontier_within = Interval{energies[29] - 1e-13, energies[30] + 1e-13};
    Purification<double> purification(products, h, problem);
    while (purification.advance()) {
    }
    EXPECT_LT(commutator_error(context, h, purification.density()), 1e-12) << "gap " << gap;
    EXPECT_TRUE(purification.state().problem.frontier_within) << "gap " << gap;
  }
}

TEST(FrontierThatIsKnown, IsTakenFromACheckpoint) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({40, 40}, context.size());
  test::ReplicatedProducts<double> products(context, layout);
  auto energies = test::spectrum_with_gap(40, 9, 0.05);
  const auto h = test::distributed(context, layout, test::prescribed<double>(energies));
  std::ranges::sort(energies);
  const Problem plain{Method::tc2, 9, spectrum_of(context, h, Bounds::lanczos)};
  Problem problem = plain;
  problem.frontier_within = Interval{energies[8] - 0.01, energies[9] + 0.01};
  Purification<double> whole(products, h, problem);
  while (whole.advance()) {
  }
  Purification<double> first(products, h, problem);
  for (int step = 0; step < 5; ++step) ASSERT_TRUE(first.advance());
  iterate::Checkpoint checkpoint;
  first.save(checkpoint);
  Purification<double> rest(products, h, plain);
  rest.resume(checkpoint);
  while (rest.advance()) {
  }
  EXPECT_EQ(test::gathered(context, rest.density()).elements, test::gathered(context, whole.density()).elements);
  EXPECT_EQ(rest.state().chemical_potentials(), whole.state().chemical_potentials());
}

TEST(FrontierThatIsKnown, MayBeWrong) {
  mpi::Context context(test::test_comm());
  const Index n = 40;
  const Layout layout = Layout::columns({n, n}, context.size());
  test::ReplicatedProducts<double> products(context, layout);
  const auto whole = test::prescribed<double>(test::spectrum_with_gap(n, 15, 0.05));
  const auto states = test::eigenstates(whole);
  const auto h = test::distributed(context, layout, whole);
  // All kinds of intervals that end within a band or in the gap.
  for (const Index low : {0, 7, 13, 14, 15, 20, 38}) {
    for (Index high = low + 1; high < n; high += 9) {
      SCOPED_TRACE(std::to_string(low) + " to " + std::to_string(high));
      Problem problem{Method::tc2, 15, spectrum_of(context, h, Bounds::lanczos)};
      problem.frontier_within = Interval{states.values[static_cast<std::size_t>(low)] + 1e-3,
                                         states.values[static_cast<std::size_t>(high)] - 1e-3};
      Purification<double> purification(products, h, problem);
      EXPECT_LE(expect_purified(context, whole, purification), 130);  // 25 without
    }
  }
}

TEST(FrontierThatIsKnown, IsLeftOutWhereThereIsNoGap) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({6, 6}, context.size());
  test::ReplicatedProducts<double> products(context, layout);
  const auto h = test::distributed(context, layout, test::prescribed<double>({0, 1, 2, 2, 3, 4}));
  for (const Interval within : {Interval{0.5, 1.5}, Interval{1.5, 2.5}, Interval{2.5, 3.5}}) {
    Problem problem{Method::tc2, 3, spectrum_of(context, h, Bounds::lanczos)};
    problem.frontier_within = within;
    Purification<double> purification(products, h, problem);
    const auto run = [&] {
      while (purification.advance()) purification.follow_frontier();
    };
    EXPECT_THROW(run(), NoGap);
  }
}

/// h, and the density matrix of another Hamiltonian that differs by `size`.
template <class T>
void expect_found_near_density(mpi::Context& context, double gap, double size, Index occupied) {
  const Index n = 50;
  const Layout layout = Layout::columns({n, n}, context.size());
  test::ReplicatedProducts<T> products(context, layout);
  const auto whole = test::prescribed<T>(test::spectrum_with_gap(n, occupied, gap));
  auto former = whole;
  for (Index i = 0; i < n; ++i) former(i, i) += size * std::sin(static_cast<double>(3 * i));
  const auto h = test::distributed(context, layout, whole);
  const auto d = test::distributed(context, layout, test::density_of(test::eigenstates(former), occupied));
  Problem problem{Method::tc2, occupied, spectrum_of(context, h, Bounds::lanczos)};
  Purification<T> plain(products, h, problem);
  const Index without = expect_purified(context, whole, plain);
  const Interval within = frontier_near_density(context, h, d, occupied);
  const auto states = test::eigenstates(whole);
  EXPECT_LT(within.low, states.values[static_cast<std::size_t>(occupied) - 1]);
  EXPECT_GT(within.high, states.values[static_cast<std::size_t>(occupied)]);
  problem.frontier_within = within;
  Purification<T> started(products, h, problem);
  EXPECT_LT(expect_purified(context, whole, started), without) << "gap " << gap << ", moved by " << size;
}

TEST(FrontierThatIsKnown, IsFoundFromTheDensityMatrixOfANearHamiltonian) {
  mpi::Context context(test::test_comm());
  for (const double gap : {0.1, 1e-3}) {
    for (const double size : {0.0, 1e-3, 0.1}) expect_found_near_density<double>(context, gap, size * gap, 20);
  }
  expect_found_near_density<std::complex<double>>(context, 0.05, 1e-3, 7);
}

TEST(FrontierThatIsKnown, IsAsNearAsADensityMatrixWithMixedStatesAtTheGapAllows) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({4, 4}, context.size());
  test::Whole<double> whole{4};
  whole(0, 0) = -1.25, whole(1, 1) = -0.25, whole(2, 2) = 0.25, whole(3, 3) = 1.25;
  const auto h = test::distributed(context, layout, whole);
  for (const double angle : {0.7, 0.8, 1.5}) {  // by which the states at the gap are turned
    test::Whole<double> former{4};
    const double c = std::cos(angle), s = std::sin(angle);
    former(0, 0) = 1;
    former(1, 1) = c * c, former(1, 2) = former(2, 1) = c * s, former(2, 2) = s * s;
    const Interval within = frontier_near_density(context, h, test::distributed(context, layout, former), 2);
    EXPECT_LT(within.low, -0.25) << angle;
    EXPECT_GT(within.high, 0.25) << angle;
    EXPECT_LT(within.width(), 0.75) << angle;
  }
}

TEST(FrontierThatIsKnown, IsAnywhereForTheDensityMatrixOfQuiteAnotherHamiltonian) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({4, 4}, context.size());
  const auto h = test::distributed(context, layout, test::prescribed<double>({0, 1, 2, 3}));
  const auto d = test::distributed(context, layout, test::prescribed<double>({0, 0, 1, 1}));
  const Interval within = frontier_near_density(context, h, d, 2);
  EXPECT_LT(within.low, 0);
  EXPECT_GT(within.high, 3);
}

TEST(FrontierThatIsKnown, IsRefusedOfWhatIsNoDensityMatrix) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({4, 4}, context.size());
  const auto h = test::distributed(context, layout, test::prescribed<double>({0, 1, 2, 3}));
  const auto d = test::distributed(context, layout, test::prescribed<double>({0, 0, 1, 1}));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return frontier_near_density(context, h, d, 3); }),
              testing::HasSubstr("d: has the trace 2, and"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return frontier_near_density(context, h, h, 6); }),
              testing::HasSubstr("expected a density matrix with 6 states"));
}

TEST(FrontierThatIsKnown, IsRefusedOutsideOfTheSpectrum) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({4, 4}, context.size());
  test::ReplicatedProducts<double> products(context, layout);
  const auto h = test::distributed(context, layout, test::prescribed<double>({0, 1, 2, 3}));
  Problem problem{Method::tc2, 2, {0, 3}};
  problem.frontier_within = Interval{4, 5};
  EXPECT_THAT(
      test::message_of<ArgumentError>([&] { Purification<double>(products, h, problem); }),
      testing::HasSubstr("frontier_within: is 4 to 5, expected an interval that reaches into the spectrum, 0 to 3"));
}

/// Hamiltonians on the way from one to another one, each nearer than the one before.
template <class T>
std::vector<test::Whole<T>> approaching(double gap) {
  const Index n = 50;
  const auto first = test::prescribed<T>(test::spectrum_with_gap(n, 20, gap), 1);
  std::vector<test::Whole<T>> result;
  for (const double share : {1e-1, 1e-2, 1e-3, 1e-4}) {
    result.push_back(first);
    for (Index i = 0; i < n; ++i) result.back()(i, i) += share * gap * std::sin(static_cast<double>(3 * i));
  }
  return result;
}

template <class T>
void expect_sequence(mpi::Context& context, double gap) {
  const auto all = approaching<T>(gap);
  const Layout layout = Layout::rows({all[0].n, all[0].n}, context.size());
  test::ReplicatedProducts<T> products(context, layout);
  Sequence<T> sequence(products);
  std::vector<Index> taken;
  for (const auto& whole : all) {
    EXPECT_EQ(sequence.knows_frontier(20), !taken.empty());
    auto& purification = sequence.begin(test::distributed(context, layout, whole), {Method::tc2, 20, {}});
    taken.push_back(expect_purified(context, whole, purification));
  }
  for (std::size_t i = 1; i < taken.size(); ++i) {
    EXPECT_LT(taken[i], taken[0]) << "gap " << gap;
    EXPECT_LE(taken[i], taken[i - 1]) << "gap " << gap;
  }
}

TEST(SequenceOfPurifications, TakesFewerProductsFromTheSecondHamiltonianOn) {
  mpi::Context context(test::test_comm());
  for (const double gap : {0.1, 1e-3, 1e-5}) expect_sequence<double>(context, gap);
  expect_sequence<std::complex<double>>(context, 0.05);
}

TEST(SequenceOfPurifications, IsRightHoweverFarTheHamiltonianMoves) {
  mpi::Context context(test::test_comm());
  const Index n = 40;
  const Layout layout = Layout::blocks({n, n}, 1, context.size());
  test::ReplicatedProducts<double> products(context, layout);
  Sequence<double> sequence(products);
  int seed = 0;
  for (const auto& [shift, gap, occupied] : std::array<std::tuple<double, double, Index>, 6>{
           {{0, 0.2, 10}, {0, 0.05, 10}, {3, 0.1, 10}, {3, 0.1, 30}, {-50, 1e-4, 30}, {-50, 0.3, 30}}}) {
    auto energies = test::spectrum_with_gap(n, occupied, gap);
    for (double& energy : energies) energy += shift;
    const auto whole = test::prescribed<double>(energies, ++seed);
    auto& purification = sequence.begin(test::distributed(context, layout, whole), {Method::tc2, occupied, {}});
    static_cast<void>(expect_purified(context, whole, purification));
  }
}

TEST(SequenceOfPurifications, GoesOnAfterAHamiltonianWithoutAGap) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({6, 6}, context.size());
  test::ReplicatedProducts<double> products(context, layout);
  Sequence<double> sequence(products);
  const auto begin = [&](const std::vector<double>& energies) -> Purification<double>& {
    return sequence.begin(test::distributed(context, layout, test::prescribed<double>(energies)), {Method::tc2, 3, {}});
  };
  const auto run = [](Purification<double>& purification) {
    while (purification.advance()) {
    }
  };
  EXPECT_THROW(run(begin({0, 1, 2, 2, 3, 4})), NoGap);
  EXPECT_FALSE(sequence.knows_frontier(3));
  EXPECT_THROW(run(begin({1, 1, 1, 1, 1, 1})), NoGap);
  static_cast<void>(expect_purified(context, test::prescribed<double>({0, 1, 2, 3, 4, 5}), begin({0, 1, 2, 3, 4, 5})));
}

}  // namespace
}  // namespace plait::purify
