// Domains that are a part of a box: some points are outside.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/solver.hpp"

#include "mpi/poisson/reference.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using layout::Box;
using layout::BoxPartition;
using layout::Point;
using poisson::Axis;
using poisson::Grid;
using poisson::Method;
using poisson::Options;
using poisson::Side;
using poisson::Solver;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::array methods{Method::jacobi,
                             Method::chebyshev,
                             Method::sor,
                             Method::conjugate_gradients,
                             Method::pipelined_conjugate_gradients,
                             Method::multigrid_conjugate_gradients};

// A whole problem on cells, as any rank can make it.
struct Case {
  Grid grid;
  std::vector<double> k{}, f{}, start{};
  std::vector<bool> outside{};
  Side side = Side::flux;
  std::vector<std::vector<double>> faces{};  // k by face, across each axis; empty: by point

  [[nodiscard]] Box box() const { return grid.box(); }
};

Case random_case(std::uint64_t seed, std::vector<Index> extents, std::vector<Axis::Sides> sides, Side side,
                 double share = 0.3) {
  Case problem{.grid = {.extents = extents, .spacing = std::vector<double>(extents.size(), 0.5), .sides = sides},
               .side = side};
  std::uint64_t draws = 0;
  const auto draw = [&] { return random_uniform(seed, draws++); };
  for (Index p = 0; p < problem.box().points(); ++p) {
    problem.k.push_back(std::exp(3 * draw()));
    problem.f.push_back(draw() - 0.5);
    problem.start.push_back(draw());
    problem.outside.push_back(draw() < share);
  }
  return problem;
}

// All faces of a box across an axis.
Box faces_of(const Case& problem, std::size_t axis) {
  Box faces = problem.box();
  if (problem.grid.sides[axis + problem.grid.extents.size() - 3][0] != Side::periodic) ++faces.high[axis];
  return faces;
}

Case by_face(Case problem, std::uint64_t seed) {
  std::uint64_t draws = 0;
  for (std::size_t axis = 3 - problem.grid.extents.size(); axis < 3; ++axis) {
    auto& faces = problem.faces.emplace_back(at(faces_of(problem, axis).points()));
    for (double& k : faces) k = std::exp(3 * random_uniform(seed, draws++));
  }
  return problem;
}

struct Neighbour {
  Index point;  // -1: beyond a side where u is 0
  double c;
};

// Straight from the definition; none across sides of flux.
std::vector<Neighbour> neighbours(const Case& problem, const Point& p) {
  const Box box = problem.box();
  std::vector<Neighbour> found;
  for (std::size_t d = 0; d < problem.grid.extents.size(); ++d) {
    const std::size_t axis = 3 - problem.grid.extents.size() + d;
    const double h2 = problem.grid.spacing[d] * problem.grid.spacing[d], own = problem.k[at(box.offset_of(p))];
    for (const Index step : {-1, 1}) {
      Point next = p;
      next[axis] += step;
      const Side kind = problem.grid.sides[d][step < 0 ? 0 : 1];
      const auto k_between = [&](double otherwise) {
        if (problem.faces.empty()) return otherwise;
        Point face = p;
        face[axis] += step < 0 ? 0 : 1;
        if (kind == Side::periodic) face[axis] %= box.high[axis];
        return problem.faces[d][at(faces_of(problem, axis).offset_of(face))];
      };
      if (!box.contains(next) && kind == Side::value) found.push_back({-1, 2 * k_between(own) / h2});
      if (!box.contains(next) && kind != Side::periodic) continue;
      next[axis] = (next[axis] + box.high[axis]) % box.high[axis];
      const Index other = box.offset_of(next);
      if (problem.outside[at(other)] && problem.side == Side::flux) continue;
      found.push_back({other, k_between(2 / (1 / own + 1 / problem.k[at(other)])) / h2});
    }
  }
  return found;
}

// By elimination; on parts without a given u, that of mean 0 for an f that is less its mean.
std::vector<double> reference(const Case& problem) {
  const Box box = problem.box();
  const auto n = at(box.points());
  std::vector<double> a(n * n), x = problem.f;
  std::vector<std::size_t> part(n);
  for (std::size_t p = 0; p < n; ++p) part[p] = p;
  std::vector<bool> has_value(n);
  for (std::size_t sweep = 0; sweep < n; ++sweep) {  // the least point of a part is its name
    for_each_point(box, [&](const Point& p) {
      const std::size_t own = at(box.offset_of(p));
      if (problem.outside[own]) return;
      for (const Neighbour& next : neighbours(problem, p)) {
        if (next.point < 0 || problem.outside[at(next.point)]) continue;
        part[own] = part[at(next.point)] = std::min(part[own], part[at(next.point)]);
      }
    });
  }
  for_each_point(box, [&](const Point& p) {
    const std::size_t own = at(box.offset_of(p));
    if (problem.outside[own]) {
      a[own * n + own] = 1;
      x[own] = problem.start[own];
      return;
    }
    for (const Neighbour& next : neighbours(problem, p)) {
      a[own * n + own] += next.c;
      if (next.point >= 0 && !problem.outside[at(next.point)]) a[own * n + at(next.point)] -= next.c;
      if (next.point >= 0 && problem.outside[at(next.point)]) x[own] += next.c * problem.start[at(next.point)];
      if (next.point < 0 || problem.outside[at(next.point)]) has_value[part[own]] = true;
    }
  });
  for (std::size_t name = 0; name < n; ++name) {
    std::vector<std::size_t> members;
    for (std::size_t p = 0; p < n; ++p) {
      if (part[p] == name && !problem.outside[p]) members.push_back(p);
    }
    if (members.empty() || has_value[name]) continue;
    double mean = 0;
    for (const std::size_t p : members) mean += x[p] / static_cast<double>(members.size());
    for (const std::size_t p : members) {
      x[p] -= mean;
      for (const std::size_t q : members) a[p * n + q] += 1;
    }
  }
  return eliminated(std::move(a), std::move(x));
}

struct Solved {
  std::vector<double> u;  // of all points, on all ranks
  std::vector<double> errors;
  iterate::State state;
  poisson::Balance balance;
  Index parts = 0;
};

Solved solve(mpi::Context& context, const Case& problem, Options options) {
  const BoxPartition partition = BoxPartition::for_ranks(problem.box(), context.size());
  const Box box = problem.box(), own = partition.box(context.rank());
  std::vector<double> k, f, start;
  for_each_point(own, [&](const Point& p) {
    const std::size_t place = at(box.offset_of(p));
    k.push_back(problem.k[place]);
    f.push_back(problem.f[place]);
    start.push_back(problem.start[place]);
    options.outside.points.push_back(problem.outside[place]);
  });
  options.outside.side = problem.side;
  std::vector<std::vector<double>> faces;
  for (std::size_t d = 0; d < problem.faces.size(); ++d) {
    const std::size_t axis = 3 - problem.grid.extents.size() + d;
    const Box whole = faces_of(problem, axis);
    std::vector<double>& own_faces = faces.emplace_back();
    for_each_point(poisson::faces_of(poisson::axes_of(context, problem.grid), partition, axis).box(context.rank()),
                   [&](const Point& p) { own_faces.push_back(problem.faces[d][at(whole.offset_of(p))]); });
  }
  const poisson::Coefficient coefficient = faces.empty() ? k : poisson::Coefficient({faces.begin(), faces.end()});
  Solver solver(context, problem.grid, partition, coefficient, f, start, options);
  iterate::run(solver);
  std::vector<double> u(f.size()), whole(at(box.points()));
  solver.copy_solution(u);
  std::size_t next = 0;
  for_each_point(own, [&](const Point& p) { whole[at(box.offset_of(p))] = u[next++]; });
  mpi::all_reduce(context.comm(), std::span<double>(whole), mpi::Operation::sum());
  return {whole, solver.errors(), solver.state(), solver.balance(), solver.parts()};
}

void expect_agreement(std::uint64_t seed, bool is_by_face) {
  mpi::Context context(test_comm());
  for (const Side side : {Side::flux, Side::value}) {
    for (const auto& [extents, sides] :
         std::vector<std::pair<std::vector<Index>, std::vector<Axis::Sides>>>{{{17}, {given}},
                                                                              {{8, 9}, {flux, flux}},
                                                                              {{9, 7}, {around, given}},
                                                                              {{7, 9}, {around, around}},
                                                                              {{4, 5, 4}, {flux, given, flux}},
                                                                              {{1, 20}, {given, flux}}}) {
      Case problem = random_case(seed, extents, sides, side, is_by_face && seed % 3 == 0 ? 0 : 0.3);
      if (is_by_face) problem = by_face(problem, seed);
      ++seed;
      const std::vector<double> expected = reference(problem);
      for (const Method method : methods) {
        constexpr std::size_t many = 30;  // which take Jacobi thousands of iterations
        if (method == Method::jacobi && expected.size() > many) continue;
        SCOPED_TRACE(fmt::format("{}, seed {}, {}", layout::describe(problem.box()), seed - 1, name(method)));
        Options options{.method = method, .limits = {.tolerance = 1e-12, .most_iterations = 200'000}, .project = true};
        options.multigrid.least_points_per_rank = 8;
        const Solved solved = solve(context, problem, options);
        EXPECT_NE(solved.state.end, iterate::End::limit) << solved.state.reason;
        for (std::size_t p = 0; p < expected.size(); ++p) ASSERT_NEAR(solved.u[p], expected[p], 1e-8) << p;
        double flow = solved.balance.source + solved.balance.from_outside, size = std::abs(solved.balance.source);
        for (const auto& axis : solved.balance.inflow) {
          for (const double side_flow : axis) flow += side_flow, size += std::abs(side_flow);
        }
        EXPECT_NEAR(flow, 0, 1e-9 * (1 + size));
      }
    }
  }
}

TEST(PoissonOutside, IsSolvedAlikeByAllMethodsAndByElimination) { expect_agreement(40, false); }

TEST(PoissonFaces, AreSolvedAlikeByAllMethodsAndByElimination) { expect_agreement(60, true); }

// Parts without a given u, some of them points alone: coarse grids couple what A does not.
TEST(PoissonFaces, OfSingularDomainsWithHolesAreSolvedByMultigridAsAPreconditioner) {
  mpi::Context context(test_comm());
  for (std::uint64_t seed = 100; seed < 140; ++seed) {
    SCOPED_TRACE(seed);
    const Case problem = by_face(random_case(seed, {8, 9}, {flux, flux}, Side::flux, 0.3), seed);
    Options options{.method = Method::multigrid_conjugate_gradients, .limits = {.tolerance = 1e-12}, .project = true};
    options.multigrid.least_points_per_rank = 8;
    const std::vector<double> expected = reference(problem);
    const Solved solved = solve(context, problem, options);
    EXPECT_LE(solved.errors.size(), 100U);
    for (std::size_t p = 0; p < expected.size(); ++p) ASSERT_NEAR(solved.u[p], expected[p], 1e-8) << p;
  }
}

TEST(PoissonFaces, HaveTheSameBitsOnAnyNumberOfRanksAndWithSeveralStepsAnExchange) {
  mpi::Context context(test_comm()), alone(MPI_COMM_SELF);
  for (const Side side : {Side::flux, Side::value}) {
    for (const bool is_flat : {true, false}) {
      const std::vector<Index> extents = is_flat ? std::vector<Index>{31, 26} : std::vector<Index>{9, 10, 11};
      std::vector<Axis::Sides> sides(extents.size(), given);
      if (side == Side::flux) sides.back() = around;
      const Case problem = by_face(random_case(7, extents, sides, side, 0.1), 8);
      for (const Method method : methods) {
        Options options{.method = method, .limits = {.tolerance = 0, .most_iterations = 6}, .project = true};
        options.sums = krylov::Sums::reproducible;
        options.multigrid.least_points_per_rank = 30;
        const Solved whole = solve(alone, problem, options), parts = solve(context, problem, options);
        EXPECT_EQ(parts.u, whole.u) << name(method);
        EXPECT_EQ(parts.errors, whole.errors) << name(method);
        if (method != Method::jacobi && method != Method::chebyshev) continue;
        options.steps_per_exchange = 3;
        options.limits.most_iterations = 2;
        EXPECT_EQ(solve(context, problem, options).u, whole.u) << name(method);
      }
    }
  }
}

TEST(PoissonFaces, OfWhichNoneIsAboveZeroWhereUFlowsAreNamed) {
  mpi::Context context(test_comm());
  Case problem = by_face(random_case(1, {6, 8}, {flux, given}, Side::flux, 0), 2);
  std::fill_n(problem.faces[0].begin(), 8, NAN);  // at a side of flux
  EXPECT_EQ(solve(context, problem, {.method = Method::sor}).state.end, iterate::End::converged);
  problem.faces[1][at(5 * 9 + 8)] = 0;
  EXPECT_THAT(message_of<ArgumentError>([&] { return solve(context, problem, {.method = Method::sor}); }),
              HasSubstr("k[1]: is 0 at face (5, 8), expected a number from 1e-100 to 1e1"));
  EXPECT_THAT(message_of<ArgumentError>([&] { return solve(context, problem, {.method = Method::f_cycles}); }),
              HasSubstr("k: is given by face, which f can't have, expected jacobi"));
  problem.faces.pop_back();
  EXPECT_THAT(message_of<ArgumentError>([&] { return solve(context, problem, {.method = Method::sor}); }),
              HasSubstr("k: has faces across 1 axes, expected 2, as the grid has"));
}

TEST(PoissonOutside, HasTheSameBitsOnAnyNumberOfRanks) {
  mpi::Context context(test_comm()), alone(MPI_COMM_SELF);
  const bool is_odd = ranks() % 2 == 1;
  for (const Side side : {Side::flux, Side::value}) {
    const bool is_flat = (side == Side::flux) == is_odd;
    const std::vector<Index> extents = is_flat ? std::vector<Index>{40, 33} : std::vector<Index>{13, 12, 9};
    const Case problem = random_case(7, extents, std::vector<Axis::Sides>(extents.size(), flux), side, 0.2);
    for (const Method method : methods) {
      Options options{.method = method, .limits = {.tolerance = 0, .most_iterations = 6}, .project = true};
      options.sums = krylov::Sums::reproducible;
      options.multigrid.least_points_per_rank = 30;
      const Solved parts = solve(context, problem, options), whole = solve(alone, problem, options);
      EXPECT_EQ(parts.u, whole.u) << name(method);
      EXPECT_EQ(parts.errors, whole.errors) << name(method);
      EXPECT_EQ(parts.parts, whole.parts);
    }
  }
}

// A ring, and holes at random.
TEST(PoissonOutside, TakesFewIterationsOfConjugateGradientsWithMultigrid) {
  mpi::Context context(test_comm());
  for (const bool is_ring : {true, false}) {
    for (const Side side : {Side::flux, Side::value}) {
      Case problem = random_case(3, {127, 127}, {flux, flux}, side, 0.2);
      problem.k.assign(problem.f.size(), 1);
      const Box box = problem.box();
      for_each_point(box, [&](const Point& p) {
        const double r = std::hypot(static_cast<double>(p[1]) - 63, static_cast<double>(p[2]) - 63);
        if (is_ring) problem.outside[at(box.offset_of(p))] = r < 20 || r > 50;
      });
      const Solved solved = solve(context, problem, {.method = Method::multigrid_conjugate_gradients, .project = true});
      EXPECT_EQ(solved.state.end, iterate::End::converged) << solved.state.reason;
      EXPECT_LE(solved.state.step, 20) << is_ring << ", " << (side == Side::flux);
      if (is_ring) {
        EXPECT_EQ(solved.parts, 1);
      }
    }
  }
}

// Two rooms, of which one has a side on which u is given, and a wall between them.
TEST(PoissonOutside, WantsAMeanOfZeroOnEachPartWithoutAGivenValue) {
  mpi::Context context(test_comm());
  Case problem = random_case(1, {9, 12}, {flux, {Side::value, Side::flux}}, Side::flux, 0);
  for (Index i = 0; i < 9; ++i) problem.outside[at(i * 12 + 5)] = true;
  EXPECT_THAT(
      message_of<ArgumentError>([&] { return solve(context, problem, {.method = Method::conjugate_gradients}); }),
      AllOf(HasSubstr("f: its mean on the part of the domain that has (0, 6)"), HasSubstr("(project)")));
  for (Index p = 0; p < 9 * 12; ++p) problem.f[at(p)] = p % 12 < 6 ? 1 : p % 2 == 0 ? 2 : -2;
  const Solved solved = solve(context, problem, {.method = Method::conjugate_gradients});
  EXPECT_EQ(solved.state.end, iterate::End::converged);
  EXPECT_EQ(solved.parts, 2);
}

TEST(PoissonOutside, NamesWhatIsWrongOnAllRanks) {
  mpi::Context context(test_comm());
  Case problem = random_case(1, {6, 8}, {given, given}, Side::flux);
  EXPECT_THAT(message_of<ArgumentError>([&] { return solve(context, problem, {.method = Method::v_cycles}); }),
              AllOf(HasSubstr("outside: there are points outside of the domain, which v can't have")));
  problem.side = Side::periodic;
  EXPECT_THAT(message_of<ArgumentError>([&] { return solve(context, problem, {.method = Method::jacobi}); }),
              HasSubstr("outside: is periodic, expected flux or value"));
  problem.side = Side::flux;
  const auto inside = std::ranges::find(problem.outside, false) - problem.outside.begin();
  for (std::size_t p = 0; p < problem.k.size(); ++p) {
    if (problem.outside[p]) problem.k[p] = problem.f[p] = NAN;  // of no importance there
  }
  EXPECT_EQ(solve(context, problem, {.method = Method::conjugate_gradients}).state.end, iterate::End::converged);
  problem.k[at(inside)] = 0;
  EXPECT_THAT(message_of<ArgumentError>([&] { return solve(context, problem, {.method = Method::jacobi}); }),
              HasSubstr(fmt::format("k: is 0 at ({}, {})", inside / 8, inside % 8)));
}

}  // namespace
}  // namespace plait::test
