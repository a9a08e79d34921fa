#include "plait/purify/points.hpp"

#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/mpi/agreed.hpp"
#include "plait/purify/purification.hpp"

#include "mpi/purify/eigensolver.hpp"
#include "mpi/purify/replicated_products.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using layout::Layout;
using test::Whole;
using testing::ElementsAre;
using testing::HasSubstr;

double fermi(double x) { return 1 / (1 + std::exp(x)); }

/// The chemical potential by a search that knows nothing but the sum.
double potential_of(const std::vector<std::vector<double>>& energies, const std::vector<double>& weights, double filled,
                    double width) {
  double low = -100;
  double high = 100;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (std::size_t k = 0; k < energies.size(); ++k) {
      for (const double energy : energies[k]) sum += weights[k] * fermi((energy - middle) / width);
    }
    (sum < filled ? low : high) = middle;
  }
  return low;
}

template <class T>
std::vector<Whole<T>> hamiltonians(Index points, Index n) {
  std::vector<Whole<T>> result;
  for (Index k = 0; k < points; ++k) {
    std::vector<double> values;
    for (Index i = 0; i < n; ++i) values.push_back(0.4 * static_cast<double>(i) + 0.15 * static_cast<double>(k % 4));
    result.push_back(test::prescribed<T>(values, static_cast<int>(k) + 1));
  }
  return result;
}

template <class T>
void expect_points(Index points, Index n) {
  mpi::Context context(test::test_comm());
  PointStates<T> states(context, std::vector<Index>(static_cast<std::size_t>(points), n));
  const Layout layout = Layout::columns({n, n}, context.size());
  const auto whole = hamiltonians<T>(points, n);
  std::vector<double> weights;
  std::vector<test::Eigenstates<T>> expected;
  std::vector<std::vector<double>> energies;
  for (Index k = 0; k < points; ++k) {
    const auto at = static_cast<std::size_t>(k);
    states.set(k, test::distributed(context, layout, whole[at]));
    weights.push_back(2 * static_cast<double>(k + 1) / static_cast<double>(points * (points + 1)));
    expected.push_back(test::eigenstates(whole[at]));
    energies.push_back(expected.back().values);
  }
  states.solve();
  constexpr double filled = 3.7;
  constexpr double width = 0.3;
  const auto filling = fill_points(states.values(), weights, filled, Smearing::fermi_dirac, width);
  const double mu = potential_of(energies, weights, filled, width);
  EXPECT_NEAR(filling.chemical_potentials.low, mu, 1e-9);
  EXPECT_LT(states.weigh(filling).commutator, 1e-10);
  double energy = 0;
  for (Index k = 0; k < points; ++k) {
    const auto at = static_cast<std::size_t>(k);
    Matrix<T> d(layout, context.rank());
    states.take(k, d);
    const auto found = test::gathered(context, d);
    double worst = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        T sum{};
        for (Index state = 0; state < n; ++state) {
          const T& right = expected[at].vectors(j, state);
          const double weight = fermi((energies[at][static_cast<std::size_t>(state)] - mu) / width);
          if constexpr (std::is_same_v<T, double>) {
            sum += weight * expected[at].vectors(i, state) * right;
          } else {
            sum += weight * expected[at].vectors(i, state) * std::conj(right);
          }
        }
        worst = std::max(worst, std::abs(sum - found(i, j)));
      }
    }
    EXPECT_LT(worst, 1e-9) << "point " << k;
    for (const double e : energies[at]) energy += weights[at] * fermi((e - mu) / width) * e;
  }
  EXPECT_NEAR(filling.energy, energy, 1e-8);
}

TEST(PointStates, AreThoseOfEachPointWithOnePotentialOnMoreOrFewerRanks) {
  expect_points<double>(3, 9);
  expect_points<std::complex<double>>(5, 8);
  expect_points<double>(1, 12);
}

TEST(PointStates, ThatFailAtOnePointFailOnAllRanks) {
  mpi::Context context(test::test_comm());
  PointStates<double> states(context, {4, 4, 4});
  const Layout layout = Layout::columns({4, 4}, context.size());
  Whole<double> h{4};
  Whole<double> s{4};
  for (Index i = 0; i < 4; ++i) h(i, i) = static_cast<double>(i), s(i, i) = i == 2 ? -1 : 1;
  const auto own = test::distributed(context, layout, h);
  const auto overlap = test::distributed(context, layout, s);
  for (Index k = 0; k < 3; ++k) states.set(k, own, k == 1 ? &overlap : nullptr);
  try {
    states.solve();
    FAIL();
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("point 2: "));
    EXPECT_THAT(error.what(), HasSubstr("is not positive definite"));
  }
}

TEST(FillPoints, FillsTheLowestStatesOfAllPoints) {
  const std::vector<std::vector<double>> energies{{-3, -2, 1}, {-1, 2, 3}, {-2.5, -2.2, -2.1}};
  const std::vector<double> weights{0.25, 0.25, 0.5};
  // The six lowest: both of the first, one of the second, all of the third.
  const auto filling = fill_points(energies, weights, 0.5 + 0.25 + 1.5, Smearing::none, 0);
  EXPECT_THAT(filling.of_points[0].occupations.of_states, ElementsAre(1, 1, 0));
  EXPECT_THAT(filling.of_points[1].occupations.of_states, ElementsAre(1, 0, 0));
  EXPECT_THAT(filling.of_points[2].occupations.of_states, ElementsAre(1, 1, 1));
  EXPECT_EQ(filling.energy, 0.25 * -5 + 0.25 * -1 + 0.5 * -6.8);
  EXPECT_EQ(filling.chemical_potentials, (Interval{-1, 1}));
  EXPECT_EQ(filling.frontier_points, (std::array<Index, 2>{1, 0}));
  EXPECT_EQ(filling.direct_gap, 3);
}

TEST(FillPoints, TellsTiesAndStatesThatWouldBeFilledInPart) {
  const std::vector<std::vector<double>> energies{{-1, 0}, {-1, 0}};
  const std::vector<double> halves{0.5, 0.5};
  try {
    static_cast<void>(fill_points(energies, halves, 0.5, Smearing::none, 0));
    FAIL();
  } catch (const NoGap& error) {
    EXPECT_THAT(error.what(), HasSubstr("state 1 of point 1 and state 1 of point 2 have the energies -1 and -1"));
  }
  try {
    static_cast<void>(fill_points(energies, halves, 0.75, Smearing::none, 0));
    FAIL();
  } catch (const NoGap& error) {
    EXPECT_THAT(error.what(), HasSubstr("state 1 of point 2 at -1 would be occupied in part"));
  }
  for (const double filled : {0.0, 2.0}) {
    const auto filling = fill_points(energies, halves, filled, Smearing::fermi_dirac, 0.1);
    EXPECT_THAT(filling.of_points[0].occupations.of_states, ElementsAre(filled / 2, filled / 2));
    EXPECT_EQ(fill_points(energies, halves, filled, Smearing::none, 0).energy, filled == 0 ? 0 : -1);
  }
}

TEST(RanksOfPoints, FollowWhatPointsCost) {
  using Shares = std::vector<std::vector<int>>;
  EXPECT_EQ(ranks_of_points(std::vector<double>{1, 1, 1}, 3), (Shares{{0}, {1}, {2}}));
  EXPECT_EQ(ranks_of_points(std::vector<double>{1, 8, 1}, 6), (Shares{{0}, {1, 2, 3, 4}, {5}}));
  EXPECT_EQ(ranks_of_points(std::vector<double>{1, 1}, 5), (Shares{{0, 1, 2}, {3, 4}}));
  EXPECT_EQ(ranks_of_points(std::vector<double>{1, 3, 2, 2}, 2), (Shares{{0}, {0}, {1}, {1}}));
  EXPECT_EQ(ranks_of_points(std::vector<double>{1, 1, 1}, 1), (Shares{{0}, {0}, {0}}));
}

}  // namespace
}  // namespace plait::purify
