// Methods that are exact but for rounding.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/poisson/problems.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using ::testing::HasSubstr;

class Transforms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!FourierSolver::is_available()) GTEST_SKIP() << "there is no FFTW";
  }

  mpi::Context context{test_comm()};
};

constexpr Axis::Sides below{Side::value, Side::flux}, above{Side::flux, Side::value};

// Of each axis one kind of sides, and an extent.
std::vector<Case> cases_of_all_sides(Points points) {
  std::vector<Axis::Sides> kinds{given, around};
  if (points == Points::cells) kinds.insert(kinds.end(), {flux, below, above});
  std::vector<Case> cases;
  Random random{5};
  for (std::size_t dimensions = 1; dimensions <= 3; ++dimensions) {
    std::size_t combinations = 1;
    for (std::size_t d = 0; d < dimensions; ++d) combinations *= kinds.size();
    for (std::size_t c = 0; c < combinations; ++c) {
      if (dimensions == 3 && c % 3 != at(ranks()) % 3) continue;  // each number of ranks has others
      Case problem;
      problem.grid.points = points;
      std::size_t rest = c;
      for (std::size_t d = 0; d < dimensions; ++d, rest /= kinds.size()) {
        problem.grid.extents.push_back(random(1, dimensions == 1 ? 40 : dimensions == 2 ? 12 : 6));
        problem.grid.spacing.push_back(0.25 + random.real());
        problem.grid.sides.push_back(kinds[rest % kinds.size()]);
        problem.given[d] = {random.real(), random.real()};
      }
      const bool has_k = c % 2 == 1;
      for (Index p = 0; p < problem.box().points(); ++p) {
        problem.f.push_back(random.real() - 0.5);
        if (has_k) problem.k.push_back(2.5);
      }
      cases.push_back(problem);
    }
  }
  return cases;
}

TEST_F(Transforms, SolveOnAllKindsOfSidesInOneToThreeDimensions) {
  for (const Points points : {Points::cells, Points::nodes}) {
    for (const Case& problem : cases_of_all_sides(points)) {
      SCOPED_TRACE(::testing::Message() << layout::describe(problem.box()) << ", nodes " << (points == Points::nodes));
      const std::vector<double> expected = reference(problem);
      const Solved solved = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()),
                                  {.method = Method::fft, .limits = {.tolerance = 1e-13}, .project = true});
      EXPECT_EQ(solved.state.end, iterate::End::converged) << solved.state.reason;
      EXPECT_LE(solved.errors.size(), 2U);
      double size = 0;
      for (const double value : expected) size = std::max(size, std::abs(value));
      for (std::size_t p = 0; p < expected.size(); ++p) ASSERT_NEAR(solved.u[p], expected[p], 1e-11 * size);
    }
  }
}

// More ranks than planes, so that ranks have pencils, and fewer.
TEST_F(Transforms, HaveTheSameBitsOnAnyNumberOfRanks) {
  mpi::Context alone(MPI_COMM_SELF);
  for (const std::vector<Index>& extents :
       std::vector<std::vector<Index>>{{3, 17, 20}, {2, 2, 2}, {21, 9, 16}, {19, 33}, {1, 40}, {57}}) {
    Case problem;
    problem.grid = {.extents = extents, .spacing = std::vector(extents.size(), 0.5)};
    for (Index p = 0; p < problem.box().points(); ++p) {
      problem.f.push_back(random_uniform(9, static_cast<std::uint64_t>(p)) - 0.5);
    }
    const Options options{
        .method = Method::fft, .limits = {.tolerance = 0, .most_iterations = 2}, .sums = krylov::Sums::reproducible};
    const Solved parts = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()), options);
    const Solved whole = solve(alone, problem, BoxPartition::for_ranks(problem.box(), 1), options);
    EXPECT_EQ(parts.u, whole.u);
    EXPECT_EQ(parts.errors, whole.errors);
  }
}

TEST_F(Transforms, WantOneKAndEqualStretches) {
  Case problem;
  problem.grid = {.extents = {4, 5}, .spacing = {1, 1}};
  problem.f.assign(20, 1);
  problem.k.assign(20, 1);
  problem.k[7] = 2;
  const BoxPartition partition = BoxPartition::for_ranks(problem.box(), ranks());
  EXPECT_THAT(message_of<ArgumentError>([&] { return solve(context, problem, partition, {.method = Method::fft}); }),
              HasSubstr("but k is 1 to 2; expected mg-cg or another method"));
  const poisson::Axes axes{Axis::unused(), Axis(6, 1, Points::nodes, given).halved(), Axis(4, 1, Points::nodes, given)};
  EXPECT_THAT(message_of<ArgumentError>([&] { poisson::FourierSolver(context, axes, 1); }),
              HasSubstr("stretches of axis 1 differ"));
}

TEST(Elimination, SolvesAnyProblemOfFewPoints) {
  mpi::Context context(test_comm());
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random{seed};
    const Case problem = random_case(random, seed % 2 == 0);
    const std::vector<double> expected = reference(problem);
    const Solved solved = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()),
                                {.method = Method::lu, .limits = {.tolerance = 1e-13}, .project = true});
    EXPECT_EQ(solved.state.end, iterate::End::converged) << solved.state.reason;
    EXPECT_LE(solved.errors.size(), 2U);
    double size = 0;
    for (const double value : expected) size = std::max(size, std::abs(value));
    for (std::size_t p = 0; p < expected.size(); ++p) ASSERT_NEAR(solved.u[p], expected[p], 1e-11 * size);
  }
}

// Closed lines of cells: what flows through a face is what f makes before it.
TEST(Elimination, IsRightToTheLastDigitsHoweverKJumps) {
  mpi::Context context(test_comm());
  for (const Method method : {Method::lu, Method::multigrid_conjugate_gradients}) {
    for (const Index n : {5, 16, 30}) {
      Random random{at(n)};
      Case problem;
      problem.grid = {.extents = {n}, .spacing = {0.3}, .sides = {flux}};
      for (Index p = 0; p < n; ++p) {
        problem.k.push_back((random(0, 1) == 0 ? 1 : 1e14) * (1 + random.real()));
        problem.f.push_back(p + 1 < n ? static_cast<double>(random(-9, 9)) : 0);
        problem.f.back() -= p + 1 < n ? 0 : std::accumulate(problem.f.begin(), problem.f.end(), 0.0);
      }
      std::vector<long double> expected{0};
      long double flow = 0, mean = 0, size = 0;
      for (std::size_t p = 0; p + 1 < at(n); ++p) {
        flow += 0.3L * 0.3L * static_cast<long double>(problem.f[p]);
        expected.push_back(
            expected.back() -
            flow * (1 / static_cast<long double>(problem.k[p]) + 1 / static_cast<long double>(problem.k[p + 1])) / 2);
        mean += expected.back() / static_cast<long double>(n);
      }
      for (long double& value : expected) size = std::max(size, std::abs(value -= mean));
      const Solved solved = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()),
                                  {.method = method, .limits = {.tolerance = 1e-12}});
      EXPECT_EQ(solved.state.end, iterate::End::converged) << solved.state.reason;
      for (std::size_t p = 0; p < expected.size(); ++p) {
        ASSERT_NEAR(solved.u[p], static_cast<double>(expected[p]), 1e-12 * static_cast<double>(size))
            << name(method) << ", " << n << " points";
      }
    }
  }
}

TEST(Elimination, IsRefusedForManyPoints) {
  mpi::Context context(test_comm());
  Case problem;
  problem.grid = {.extents = {8193}, .spacing = {1}};
  problem.f.assign(8193, 1);
  EXPECT_THAT(message_of<ArgumentError>([&] {
                return solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()), {.method = Method::lu});
              }),
              HasSubstr("method: is lu, which takes at most 8192 points, as factors of 8193 would"));
}

}  // namespace
}  // namespace plait::test
