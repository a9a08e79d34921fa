// What the methods of a course on parallel computing show: -Δu = f on n × n nodes of the unit square, u = 0 on all
// sides, until ‖b - A u‖ ≤ 1e-6 ‖b‖ from u = 0.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/solver.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using layout::BoxPartition;
using poisson::Grid;
using poisson::Method;
using poisson::Points;
using poisson::Smoother;
using poisson::Solver;

Grid square(Index n) {
  const double h = 1 / static_cast<double>(n + 1);
  return {.extents = {n, n}, .spacing = {h, h}, .points = Points::nodes};
}

enum class Right : unsigned char { ones, random };

std::vector<double> right_side(const BoxPartition& partition, Right kind) {
  std::vector<double> f;
  const layout::Box own = partition.box(rank()), whole = partition.whole();
  for (Index j = own.low[1]; j < own.high[1]; ++j) {
    for (Index x = own.low[2]; x < own.high[2]; ++x) {
      const auto place = static_cast<std::uint64_t>(whole.offset_of({0, j, x}));
      f.push_back(kind == Right::ones ? 1 : random_uniform(1, place) + random_uniform(2, place) - 1);
    }
  }
  return f;
}

std::vector<double> errors(mpi::Context& context, Index n, Method method, Right kind = Right::ones,
                           double tolerance = 1e-6, Index most = 100'000, Smoother smoother = Smoother::red_black) {
  const Grid grid = square(n);
  const BoxPartition partition = BoxPartition::for_ranks(grid.box(), context.size());
  const std::vector<double> f = right_side(partition, kind);
  Solver solver(context, grid, partition, {}, f, {},
                {.method = method,
                 .limits = {.tolerance = tolerance, .most_iterations = most},
                 .multigrid = {.smoother = smoother, .cycles = 1}});
  iterate::run(solver);
  return solver.errors();
}

Index iterations(mpi::Context& context, Index n, Method method, Right kind = Right::ones) {
  return std::ssize(errors(context, n, method, kind));
}

TEST(CourseOnPoisson, JacobiTakesIterationsLikeTheSquareOfN) {
  mpi::Context context(test_comm());
  // Counted where the residual is looked at in every fifth iteration: 705, 2825, 11305.
  EXPECT_EQ(iterations(context, 15, Method::jacobi), 705);
  EXPECT_EQ(iterations(context, 31, Method::jacobi), 2825);
  if (ranks() == 1) {
    EXPECT_EQ((iterations(context, 63, Method::jacobi) + 4) / 5 * 5, 11305);
  }
}

TEST(CourseOnPoisson, OverRelaxationTakesIterationsLikeN) {
  mpi::Context context(test_comm());
  EXPECT_EQ(iterations(context, 15, Method::sor), 48);
  EXPECT_EQ(iterations(context, 31, Method::sor), 100);
  EXPECT_EQ(iterations(context, 63, Method::sor), 208);
  EXPECT_EQ(iterations(context, 127, Method::sor), 430);
}

// How many exactly depends on f; for one of random numbers 38, 82, 164, 322 within a tenth.
TEST(CourseOnPoisson, ConjugateGradientsTakeIterationsLikeN) {
  mpi::Context context(test_comm());
  for (const Method method : {Method::conjugate_gradients, Method::pipelined_conjugate_gradients}) {
    for (const auto& [n, expected] : {std::pair<Index, double>{15, 38}, {31, 82}, {63, 164}, {127, 322}}) {
      const auto found = static_cast<double>(iterations(context, n, method, Right::random));
      EXPECT_NEAR(found, expected, expected / 10) << n;
    }
  }
}

TEST(CourseOnPoisson, CyclesConvergeAlikeForAllN) {
  mpi::Context context(test_comm());
  for (const Method method : {Method::v_cycles, Method::w_cycles, Method::f_cycles}) {
    for (const Smoother smoother : {Smoother::red_black, Smoother::jacobi}) {
      std::vector<double> ratios;
      for (const Index n : {31, 63, 127, 255, 511}) {
        const std::vector<double> found = errors(context, n, method, Right::random, 0, 9, smoother);
        ratios.push_back(std::pow(found[8] / found[3], 1. / 5));
        EXPECT_LE(ratios.back(), smoother == Smoother::jacobi ? 0.35 : 0.13) << n;
        EXPECT_GE(ratios.back(), smoother == Smoother::jacobi ? 0.3 : 0) << n;
        RecordProperty("ratio", std::to_string(ratios.back()));
      }
      EXPECT_LE(std::ranges::max(ratios) / std::ranges::min(ratios), 1.15);
    }
  }
}

TEST(CourseOnPoisson, FullMultigridHalvesTheErrorAtLeast) {
  mpi::Context context(test_comm());
  for (const Index n : {15, 20, 31, 64, 127}) {
    const std::vector<double> found = errors(context, n, Method::full_multigrid, Right::ones, 0, 6);
    for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LT(found[i], 0.5 * found[i - 1]) << n;
  }
}

// u = sin πx sin 2πy: one full multigrid is as near to it as the exact solution of the discrete equations, nearly.
TEST(CourseOnPoisson, OneFullMultigridReachesTheErrorOfDiscretisation) {
  mpi::Context context(test_comm());
  const auto exact = [](double x, double y) { return std::sin(M_PI * x) * std::sin(2 * M_PI * y); };
  std::vector<double> once, limit;
  for (const Index n : {31, 63, 127, 255, 511}) {
    const Grid grid = square(n);
    const BoxPartition partition = BoxPartition::for_ranks(grid.box(), context.size());
    const layout::Box own = partition.box(rank());
    std::vector<double> wanted, f;
    for (Index j = own.low[1]; j < own.high[1]; ++j) {
      for (Index i = own.low[2]; i < own.high[2]; ++i) {
        const double h = grid.spacing[0];
        wanted.push_back(exact(static_cast<double>(i + 1) * h, static_cast<double>(j + 1) * h));
        f.push_back(5 * M_PI * M_PI * wanted.back());
      }
    }
    for (const Index steps : {1, 12}) {
      Solver solver(context, grid, partition, {}, f, {},
                    {.method = Method::full_multigrid, .limits = {.tolerance = 1e-14, .most_iterations = steps}});
      iterate::run(solver);
      std::vector<double> u(f.size());
      solver.copy_solution(u);
      double error = 0;
      for (std::size_t p = 0; p < u.size(); ++p) error = std::max(error, std::abs(u[p] - wanted[p]));
      (steps == 1 ? once : limit).push_back(mpi::all_reduce(context.comm(), error, mpi::Operation::maximum()));
    }
    EXPECT_LE(once.back(), 1.3 * limit.back()) << n;
  }
  EXPECT_NEAR(std::log2(once[3] / once[4]), 2, 0.1);
}

}  // namespace
}  // namespace plait::test
