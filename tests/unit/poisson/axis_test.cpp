#include "plait/poisson/axis.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace plait::poisson {
namespace {

const std::vector<std::pair<Points, Axis::Sides>> kinds{
    {Points::nodes, {Side::value, Side::value}},       {Points::cells, {Side::value, Side::value}},
    {Points::cells, {Side::flux, Side::value}},        {Points::cells, {Side::value, Side::flux}},
    {Points::cells, {Side::flux, Side::flux}},         {Points::cells, {Side::periodic, Side::periodic}},
    {Points::nodes, {Side::periodic, Side::periodic}},
};

// The axis and all coarser ones.
std::vector<Axis> levels(Index extent, Points points, Axis::Sides sides) {
  std::vector<Axis> axes{Axis(extent, 0.5, points, sides)};
  while (axes.back().can_be_halved()) axes.push_back(axes.back().halved());
  return axes;
}

double value(const Axis& axis, Index i, double slope) { return 1 + slope * axis.position(i); }

TEST(Axis, OfCoarseLevelsHasStretchesThatFillTheSameDomain) {
  for (const auto& [points, sides] : kinds) {
    for (Index n = 1; n <= 40; ++n) {
      for (const Axis& axis : levels(n, points, sides)) {
        double sum = 0, distances = 0;
        for (Index i = 0; i < axis.extent(); ++i) sum += axis.width(i);
        for (Index i = 0; i <= axis.extent(); ++i) {
          const auto [below, above] = axis.shares_below(i);
          EXPECT_NEAR(below + above, axis.distance_below(i), 1e-12);
          EXPECT_TRUE(below >= 0 && above >= 0) << below << " and " << above;
          distances += axis.distance_below(i);
        }
        const bool are_nodes = points == Points::nodes && sides[0] != Side::periodic;
        const double at_ends = are_nodes ? (axis.distance_below(0) + axis.distance_below(axis.extent())) / 2 : 0;
        EXPECT_NEAR(sum + at_ends, axis.length(), 1e-12);
        const bool are_given = sides[0] == Side::value && sides[1] == Side::value;
        EXPECT_NEAR(are_given ? distances : axis.length(), axis.length(), 1e-12);
      }
    }
  }
}

TEST(Axis, HalvesUntilOneCellIsLeftOrOneNodeOrTwo) {
  EXPECT_EQ(levels(2047, Points::nodes, {Side::value, Side::value}).size(), 11U);
  EXPECT_EQ(levels(2048, Points::cells, {Side::value, Side::value}).size(), 12U);
  for (Index n = 1; n <= 100; ++n) {
    EXPECT_EQ(levels(n, Points::cells, {Side::flux, Side::flux}).back().extent(), 1);
    EXPECT_LE(levels(n, Points::nodes, {Side::value, Side::value}).back().extent(), 2);
  }
}

TEST(Axis, InterpolatesLinearFunctionsExactlyBetweenCoarsePoints) {
  for (const auto& [points, sides] : kinds) {
    for (Index n = 2; n <= 40; ++n) {
      const Axis fine(n, 0.5, points, sides);
      if (!fine.can_be_halved()) continue;
      const Axis coarse = fine.halved();
      for (Index i = 0; i < n; ++i) {
        const auto [own, other] = fine.interpolation(coarse, i);
        const Index parent = i / 2, next = i % 2 == 1 ? parent + 1 : parent - 1;
        if (parent >= coarse.extent() || next < 0 || next >= coarse.extent()) continue;
        EXPECT_NEAR(own * value(coarse, parent, 3) + other * value(coarse, next, 3), value(fine, i, 3), 1e-12);
      }
    }
  }
}

TEST(Axis, InterpolatesDownToZeroAtSidesOfValue) {
  const Axis fine(7, 1, Points::nodes, {Side::value, Side::value});
  EXPECT_EQ(fine.interpolation(fine.halved(), 0).own, 0.5);  // of 0 at the side and the first coarse node
  EXPECT_EQ(fine.interpolation(fine.halved(), 6).other, 0.5);
  const Axis cells(8, 1, Points::cells, {Side::value, Side::flux});
  EXPECT_EQ(cells.interpolation(cells.halved(), 0).own, 0.5);
  EXPECT_EQ(cells.interpolation(cells.halved(), 7).own, 1);
}

TEST(Axis, RestrictsWithoutLosingAnything) {
  for (const auto& [points, sides] : kinds) {
    if (points == Points::nodes && sides[0] != Side::periodic) continue;  // sides take their share
    for (Index n = 2; n <= 40; ++n) {
      const Axis fine(n, 0.5, points, sides), coarse = fine.halved();
      std::vector<double> share(at(n));
      for (Index i = 0; i < coarse.extent(); ++i) {
        for (Index t = 0; t < fine.taps(); ++t) {
          const double weight = fine.restriction(coarse, i)[at(t)];
          if (weight != 0) share[at(2 * i + t)] += weight * coarse.width(i);
        }
      }
      for (Index i = 0; i < n; ++i) EXPECT_NEAR(share[at(i)], fine.width(i), 1e-12);
    }
  }
}

TEST(Axis, WeighsNodesByAQuarterAHalfAndAQuarter) {
  const Axis fine(7, 1, Points::nodes, {Side::value, Side::value});
  EXPECT_EQ(fine.restriction(fine.halved(), 1), (Axis::Taps{0.25, 0.5, 0.25}));
}

}  // namespace
}  // namespace plait::poisson
