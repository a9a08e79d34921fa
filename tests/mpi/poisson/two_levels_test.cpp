// What is told of a solution beside it: flows through the sides, jumps of k, and the error of the discretisation.
#include "plait/poisson/two_levels.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "plait/iterate/solver.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/solver.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using layout::BoxPartition;
using poisson::Grid;
using poisson::Points;
using poisson::Side;
using poisson::Solver;

template <class F>
std::vector<double> values_of(const BoxPartition& partition, const F& f) {
  std::vector<double> values;
  const layout::Box own = partition.box(rank());
  for (Index i = own.low[0]; i < own.high[0]; ++i) {
    for (Index j = own.low[1]; j < own.high[1]; ++j) {
      for (Index x = own.low[2]; x < own.high[2]; ++x) values.push_back(f(i, j, x));
    }
  }
  return values;
}

TEST(PoissonBalance, TellsTheFlowThroughEachSideOfAnUnevenBox) {
  mpi::Context context(test_comm());
  // u = 3 - 2 x along axis 0, k = 5: a flow of 10 through an area of 7 · .5 · 3 · .25.
  const Grid grid{.extents = {4, 7, 3},
                  .spacing = {0.125, 0.5, 0.25},
                  .sides = {{Side::value, Side::flux}, {Side::flux, Side::flux}, {Side::periodic, Side::periodic}}};
  const auto partition = BoxPartition::for_ranks(grid.box(), context.size());
  const auto k = values_of(partition, [](Index, Index, Index) { return 5.0; });
  const auto f = values_of(partition, [](Index, Index, Index) { return 0.0; });
  Solver solver(context, grid, partition, k, f, {},
                {.limits = {.tolerance = 1e-13}, .boundary = [](int axis, int side, std::span<const double>) {
                   return axis != 0 ? 0. : side == 0 ? 3. : -10.;
                 }});
  iterate::run(solver);
  const poisson::Balance balance = solver.balance();
  constexpr double flow = 10 * 7 * 0.5 * 3 * 0.25;
  EXPECT_NEAR(balance.source, 0, 1e-12);
  EXPECT_NEAR(balance.inflow[0][0], flow, 1e-9);
  EXPECT_NEAR(balance.inflow[0][1], -flow, 1e-9);
  for (const std::size_t axis : {1U, 2U}) {
    for (const double other : balance.inflow[axis]) EXPECT_EQ(other, 0);
  }
  EXPECT_LE(solver.residual(), 1e-12);
}

TEST(PoissonJump, IsTheLargestRatioOfNeighboursAlsoBetweenRanksAndRoundPeriodicSides) {
  mpi::Context context(test_comm());
  const auto jump = [&](Side side) {
    const Grid grid{.extents = {8}, .spacing = {1}, .sides = {{side, side}}};
    const auto partition = BoxPartition::for_ranks(grid.box(), context.size());
    const auto k = values_of(partition, [](Index, Index, Index x) { return std::pow(2., static_cast<double>(x)); });
    return poisson::largest_jump(context, poisson::axes_of(context, grid), partition, k);
  };
  EXPECT_EQ(jump(Side::value), 2);
  EXPECT_EQ(jump(Side::periodic), 128);
}

TEST(PoissonTwoLevels, EstimatesTheErrorOfAKnownSolution) {
  mpi::Context context(test_comm());
  constexpr double pi = std::numbers::pi;
  for (const auto& [n, points] :
       {std::pair{Index{32}, Points::cells}, {33, Points::cells}, {31, Points::nodes}, {32, Points::nodes}}) {
    const double h = 1 / static_cast<double>(points == Points::cells ? n : n + 1);
    const Grid grid{.extents = {n, n}, .spacing = {h, h}, .points = points};
    const auto partition = BoxPartition::for_ranks(grid.box(), context.size());
    const auto at = [h, points = points](Index i) {
      return (static_cast<double>(i) + (points == Points::cells ? 0.5 : 1)) * h;
    };
    const auto exact =
        values_of(partition, [&](Index, Index j, Index x) { return std::sin(pi * at(j)) * std::sin(2 * pi * at(x)); });
    std::vector<double> f = exact;
    for (double& value : f) value *= 5 * pi * pi;
    Solver solver(context, grid, partition, {}, f, {}, {.limits = {.tolerance = 1e-11}});
    iterate::run(solver);
    std::vector<double> u(f.size());
    solver.copy_solution(u);
    double squares = 0;
    for (std::size_t p = 0; p < u.size(); ++p) squares += (u[p] - exact[p]) * (u[p] - exact[p]);
    squares = mpi::all_reduce(context.comm(), squares, mpi::Operation::sum());
    const double error = std::sqrt(squares / static_cast<double>(n * n));
    poisson::TwoLevels levels(context, poisson::axes_of(context, grid), partition, {}, f, {});
    ASSERT_TRUE(levels.is_known());
    const auto estimate = levels.error(u);
    EXPECT_LT(std::abs(std::log(estimate->mean_square / error)), std::log(2)) << n << ": " << error;
    EXPECT_GE(estimate->largest, estimate->mean_square);
  }
}

TEST(PoissonTwoLevels, AreUnknownWhereNoAxisCanBeHalved) {
  mpi::Context context(test_comm());
  const Grid grid{.extents = {1}, .spacing = {1}};
  const auto partition = BoxPartition::for_ranks(grid.box(), context.size());
  const std::vector<double> f(static_cast<std::size_t>(partition.box(rank()).points()), 1.);
  poisson::TwoLevels levels(context, poisson::axes_of(context, grid), partition, {}, f, {});
  EXPECT_FALSE(levels.error(f).has_value());
}

}  // namespace
}  // namespace plait::test
