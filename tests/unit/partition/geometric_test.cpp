#include "plait/partition/geometric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/layout/curve.hpp"
#include "plait/partition/partition.hpp"

#include "support/message_of.hpp"

namespace plait::partition {
namespace {

using ::testing::HasSubstr;

constexpr auto geometries = {Method::orb, Method::inertial, Method::hilbert, Method::morton};

std::vector<Index> counts(const std::vector<int>& part, int parts) {
  std::vector<Index> result(at(parts));
  for (const int p : part) ++result[at(p)];
  return result;
}

TEST(Geometry, MakesPartsThatDifferByOneVertexAtMost) {
  std::mt19937 random(7);  // NOLINT: the same data each time
  std::uniform_real_distribution<double> uniform;
  for (const int d : {2, 3}) {
    for (const int n : {1, 7, 100, 1001}) {
      std::vector<double> random_points;
      std::vector<double> line;
      for (int v = 0; v < n; ++v) {
        const double t = uniform(random);
        for (int i = 0; i < d; ++i) {
          random_points.push_back(uniform(random));
          line.push_back(t * (i + 1));
        }
      }
      const std::vector<double> one_place(at(n * d), 3.5);
      for (const auto& points : {random_points, line, one_place}) {
        for (const int parts : {1, 2, 3, 7, 16}) {
          if (parts > n) continue;
          for (const Method geometry : geometries) {
            const auto part = by_geometry(geometry, {points, d}, {}, parts);
            const auto count = counts(part, parts);
            EXPECT_LE(std::ranges::max(count) - std::ranges::min(count), 1)
                << name(geometry) << ' ' << n << ' ' << parts;
          }
        }
      }
    }
  }
}

TEST(Geometry, BalancesWeightsToTheHeaviestVertexAndLeavesNoPartEmpty) {
  std::mt19937 random(8);  // NOLINT: the same data each time
  for (int round = 0; round < 200; ++round) {
    const int n = 20 + static_cast<int>(random() % 100);
    std::vector<double> points;
    std::vector<Index> weights;
    for (int v = 0; v < n; ++v) {
      for (int i = 0; i < 2; ++i) points.push_back(static_cast<double>(random() % 10));
      weights.push_back(static_cast<Index>(random() % 10));
    }
    const Index total = std::accumulate(weights.begin(), weights.end(), Index{0});
    for (const Method geometry : geometries) {
      const auto part = by_geometry(geometry, {points, 2}, std::span<const Index>(weights), 4);
      std::vector<Index> sums(4);
      for (int v = 0; v < n; ++v) sums[at(part[at(v)])] += weights[at(v)];
      EXPECT_LE(std::ranges::max(sums), total / 4 + 20) << name(geometry) << ' ' << round;
      EXPECT_EQ(std::set<int>(part.begin(), part.end()).size(), 4U);
    }
    // Nothing weighs anything, or one vertex all.
    std::ranges::fill(weights, 0);
    for (const Method geometry : geometries) {
      for (const Index one : {Index{0}, Index{1} << 61}) {
        weights[0] = one;
        const auto part = by_geometry(geometry, {points, 2}, std::span<const Index>(weights), 20);
        EXPECT_EQ(std::set<int>(part.begin(), part.end()).size(), 20U) << name(geometry) << ' ' << one;
      }
    }
  }
}

TEST(Geometry, CutsASquareGridIntoSquaresAndAStripAcrossItsLength) {
  std::vector<double> square;
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 40; ++x) square.insert(square.end(), {double(x), double(y)});
  }
  const auto part = by_geometry(Method::orb, {square, 2}, {}, 16);
  for (int v = 0; v < 1600; ++v) EXPECT_EQ(part[at(v)], part[at(v / 400 * 400 + v % 40 / 10 * 10)]);
  // A strip along the diagonal: the inertial cut is across it.
  std::vector<double> strip;
  for (int i = 0; i < 1000; ++i) strip.insert(strip.end(), {i * .7 + i % 3, i * .7 - i % 3});
  const auto halves = by_geometry(Method::inertial, {strip, 2}, {}, 2);
  for (int i = 0; i < 1000; ++i) {
    if (i >= 490 && i < 510) continue;
    EXPECT_EQ(halves[at(i)] == halves[0], i < 500) << i;
  }
}

TEST(Geometry, RefusesPointsThatDoNotFit) {
  const auto refusal = [](const std::vector<double>& points, int dimensions, const std::string& words) {
    EXPECT_THAT(test::message_of<ArgumentError>([&] { expect_points({points, dimensions}, 2); }), HasSubstr(words));
  };
  refusal({1, 2}, 1, "the points have 1 coordinates; expected 2 or 3");
  refusal({1, 2, 3, 4, 5, 6}, 2, "the points are 3; expected 2");
  refusal({1, 2, 3, std::nan("")}, 2, "the point 1 has the coordinate nan");
  // The largest numbers that there are do not overflow.
  const double most = std::numeric_limits<double>::max();
  const std::vector<double> far{-most, -most, most, most, 0, 0, most, -most};
  for (const Method geometry : geometries) EXPECT_EQ(counts(by_geometry(geometry, {far, 2}, {}, 2), 2)[0], 2);
}

template <std::size_t D>
void expect_curve(int bits) {
  const auto side = std::uint32_t{1} << static_cast<unsigned>(bits);
  const auto cells = std::uint64_t{1} << (static_cast<unsigned>(bits) * D);
  std::vector<layout::Cell<D>> hilbert(cells);
  std::set<std::uint64_t> morton;
  for (std::uint64_t i = 0; i < cells; ++i) {
    layout::Cell<D> cell{};
    std::uint64_t rest = i;
    for (auto& coordinate : cell) {
      coordinate = static_cast<std::uint32_t>(rest % side);
      rest /= side;
    }
    hilbert.at(layout::hilbert_key<D>(cell, bits)) = cell;
    morton.insert(layout::morton_key<D>(cell, bits));
  }
  EXPECT_EQ(morton.size(), cells);
  EXPECT_EQ(*morton.rbegin(), cells - 1);
  for (std::uint64_t i = 1; i < cells; ++i) {
    std::uint32_t distance = 0;
    for (std::size_t d = 0; d < D; ++d) {
      distance += std::max(hilbert[i][d], hilbert[i - 1][d]) - std::min(hilbert[i][d], hilbert[i - 1][d]);
    }
    ASSERT_EQ(distance, 1U) << i;
  }
}

TEST(Curve, OfHilbertGoesFromCellToNeighbouringCellThroughAllOfThem) {
  expect_curve<2>(1);
  expect_curve<2>(5);
  expect_curve<3>(1);
  expect_curve<3>(4);
}

TEST(Curve, OfMortonVisitsQuadrantsInTurn) {
  EXPECT_EQ(layout::morton_key<2>({0b101, 0b011}, 3), 0b100111U);
  EXPECT_EQ(layout::morton_key<3>({1, 0, 1}, 1), 0b101U);
  EXPECT_EQ(layout::morton_key<3>({0x1fffff, 0x1fffff, 0x1fffff}), (std::uint64_t{1} << 63U) - 1);
}

}  // namespace
}  // namespace plait::partition
