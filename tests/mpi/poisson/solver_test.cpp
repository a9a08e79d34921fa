#include "plait/poisson/solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/mpi/context.hpp"
#include "plait/report/overlap.hpp"
#include "plait/report/trace.hpp"

#include "mpi/poisson/problems.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using poisson::Smoother;
using ::testing::AllOf;
using ::testing::HasSubstr;

static_assert(iterate::Solver<Solver>);

std::vector<Method> methods_for(const Case& problem) {
  std::vector<Method> methods{Method::jacobi,
                              Method::chebyshev,
                              Method::sor,
                              Method::conjugate_gradients,
                              Method::pipelined_conjugate_gradients,
                              Method::v_cycles,
                              Method::w_cycles,
                              Method::f_cycles,
                              Method::full_multigrid,
                              Method::multigrid_conjugate_gradients};
  if (problem.k.empty() && FourierSolver::is_available()) methods.push_back(Method::fft);
  methods.push_back(Method::lu);
  return methods;
}

void expect_agreement(bool k_varies) {
  mpi::Context context(test_comm());
  const auto first = 4 * static_cast<std::uint64_t>(ranks());  // each number of ranks has problems of its own
  for (std::uint64_t seed = first; seed < first + 4; ++seed) {
    Random random{seed + (k_varies ? 100 : 0)};
    const Case problem = random_case(random, k_varies);
    const BoxPartition partition = BoxPartition::for_ranks(problem.box(), ranks());
    const std::vector<double> expected = reference(problem);
    double size = 0;
    for (const double value : expected) size = std::max(size, std::abs(value));
    for (const Method method : methods_for(problem)) {
      constexpr Index many = 30;  // which take Jacobi thousands of iterations
      if (method == Method::jacobi && problem.box().points() > many) continue;
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << layout::describe(problem.box()) << ", method "
                                        << static_cast<int>(method));
      Options options{.method = method, .limits = {.tolerance = 1e-12, .most_iterations = 200'000}, .project = true};
      options.multigrid.least_points_per_rank = 8;
      if (seed % 2 == 0) options.multigrid.most_jump = 0;
      if (seed % 4 == 1) options.multigrid.smoother = poisson::Smoother::jacobi;
      const Solved solved = solve(context, problem, partition, options);
      EXPECT_NE(solved.state.end, iterate::End::limit) << solved.state.reason;
      for (std::size_t p = 0; p < expected.size(); ++p) ASSERT_NEAR(solved.u[p], expected[p], 1e-10 * size);
    }
  }
}

TEST(Poisson, IsSolvedAlikeByAllMethodsAndByElimination) { expect_agreement(false); }

TEST(Poisson, IsSolvedAlikeWhereKVaries) { expect_agreement(true); }

// A point that is next to itself has no part in its own equation.
TEST(Poisson, TakesAsManyIterationsWithAPeriodicAxisOfOnePoint) {
  mpi::Context context(test_comm());
  Random random{3};
  std::vector<double> k;
  Case line;
  line.grid = {.extents = {14}, .spacing = {0.5}, .sides = {given}};
  for (Index p = 0; p < 14; ++p) {
    k.push_back(std::exp(random.real()));
    line.f.push_back(random.real() - 0.5);
  }
  Case plane = line;
  plane.grid = {.extents = {14, 1}, .spacing = {0.5, 0.01}, .sides = {given, around}};
  for (const Method method : {Method::jacobi, Method::chebyshev, Method::sor, Method::conjugate_gradients,
                              Method::v_cycles, Method::multigrid_conjugate_gradients}) {
    for (const bool k_varies : {false, true}) {
      line.k = plane.k = k_varies ? k : std::vector<double>();
      const Options options{.method = method, .limits = {.tolerance = 1e-6}};
      const Solved of_line = solve(context, line, BoxPartition::for_ranks(line.box(), ranks()), options);
      const Solved of_plane = solve(context, plane, BoxPartition::for_ranks(plane.box(), ranks()), options);
      EXPECT_NEAR(static_cast<double>(of_plane.errors.size()), static_cast<double>(of_line.errors.size()), 1)
          << name(method) << ", k varies " << k_varies;
    }
  }
}

TEST(Poisson, HasAnErrorOfSecondOrderInOneToThreeDimensions) {
  mpi::Context context(test_comm());
  for (std::size_t dimensions = 1; dimensions <= 3; ++dimensions) {
    std::vector<double> errors;
    for (const Index n : {10, 20}) {
      Case problem;
      problem.grid.extents.assign(dimensions, n);
      problem.grid.spacing.assign(dimensions, 1. / static_cast<double>(n));
      std::vector<double> wanted;
      for_each_point(problem.box(), [&](const Point& p) {
        double u = 1;
        for (std::size_t a = 3 - dimensions; a < 3; ++a) {
          u *= std::sin(M_PI * (static_cast<double>(p[a]) + 0.5) / static_cast<double>(n));
        }
        wanted.push_back(u);
        problem.f.push_back(static_cast<double>(dimensions) * M_PI * M_PI * u);
      });
      const Solved solved =
          solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()), {.limits = {.tolerance = 1e-10}});
      EXPECT_LE(solved.errors.size(), 25U);
      double error = 0;
      for (std::size_t p = 0; p < wanted.size(); ++p) error = std::max(error, std::abs(solved.u[p] - wanted[p]));
      errors.push_back(error);
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1) << dimensions;
  }
}

TEST(Poisson, HasTheSameBitsOnAnyNumberOfRanks) {
  mpi::Context context(test_comm()), alone(MPI_COMM_SELF);
  for (std::uint64_t seed = 200; seed < 206; ++seed) {
    Random random{seed};
    const Case problem = random_case(random, seed % 2 == 0);
    for (const Method method : methods_for(problem)) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", method " << static_cast<int>(method));
      Options options{.method = method, .limits = {.tolerance = 0, .most_iterations = 6}};
      options.sums = krylov::Sums::reproducible;
      options.project = true;
      options.multigrid.least_points_per_rank = 8;
      options.multigrid.most_jump = seed % 4 == 0 ? 0 : 10;
      const Solved parts = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()), options);
      const Solved whole = solve(alone, problem, BoxPartition::for_ranks(problem.box(), 1), options);
      EXPECT_EQ(parts.u, whole.u);
      EXPECT_EQ(parts.errors, whole.errors);
    }
  }
}

TEST(Poisson, TellsTracesWhenItComputedAndLeavesNothingUnderWay) {
  mpi::Context context(test_comm());
  const std::vector<Index> extents{120, 60};
  const Grid grid{.extents = extents, .spacing = {1, 1}};
  const auto partition = BoxPartition::for_ranks(grid.box(), ranks());
  const std::vector<double> f(static_cast<std::size_t>(partition.box(rank()).points()), 1);
  for (const Method method : {Method::v_cycles, Method::full_multigrid}) {
    Solver solver(context, grid, partition, {}, f, {}, {.method = method});
    report::Tracing tracing(context);
    iterate::run(solver);
    const report::Trace trace = tracing.gather();
    if (rank() != 0) continue;
    const auto passes = [](const report::RankTrace& each) {
      return std::ranges::count(each.recording.runs, "pass", &TimedRun::label);
    };
    for (const report::RankTrace& each : trace.ranks) {
      EXPECT_GT(passes(each), 10);
      EXPECT_EQ(passes(each), passes(trace.ranks[0]));
    }
    EXPECT_GT(report::overlap_of(trace).sum().computing, 0);
  }
}

// Parts of ranks are long enough for inner planes to be computed while ghosts are on their way.
TEST(Poisson, HasTheSameBitsWhereExchangesAreHidden) {
  mpi::Context context(test_comm()), alone(MPI_COMM_SELF);
  struct Shape {
    std::vector<Index> extents;
    std::vector<Axis::Sides> sides;
    Points points = Points::cells;
    bool k_varies = true;
  };
  for (const Shape& shape : {Shape{{150, 21}, {given, given}, Points::nodes, false}, Shape{{151, 20}, {around, flux}},
                             Shape{{120, 6, 9}, {given, given, around}}}) {
    Case problem;
    problem.grid = {shape.extents, std::vector<double>(shape.extents.size(), 1), shape.points, shape.sides};
    Random random{17};
    for (Index p = 0; p < problem.box().points(); ++p) {
      if (shape.k_varies) problem.k.push_back(std::exp(random.real()));
      problem.f.push_back(random.real() - 0.5);
    }
    for (const Method method :
         {Method::v_cycles, Method::w_cycles, Method::full_multigrid, Method::multigrid_conjugate_gradients}) {
      for (const int sweeps : {1, 2}) {
        SCOPED_TRACE(::testing::Message() << layout::describe(problem.box()) << ", method " << static_cast<int>(method)
                                          << ", sweeps " << sweeps);
        Options options{.method = method, .limits = {.tolerance = 0, .most_iterations = 4}};
        options.sums = krylov::Sums::reproducible;
        options.project = true;
        options.multigrid = {.sweeps_before = sweeps, .sweeps_after = sweeps, .least_points_per_rank = 64};
        const BoxPartition slabs(
            problem.box(),
            shape.extents.size() == 3 ? BoxPartition::Parts{ranks(), 1, 1} : BoxPartition::Parts{1, ranks(), 1},
            ranks());
        const Solved parts = solve(context, problem, slabs, options);
        const Solved whole = solve(alone, problem, BoxPartition::for_ranks(problem.box(), 1), options);
        EXPECT_EQ(parts.u, whole.u);
        EXPECT_EQ(parts.errors, whole.errors);
      }
    }
  }
}

TEST(Poisson, ConvergesFastOnGridsOfAnySizeAndShape) {
  mpi::Context context(test_comm());
  for (const auto& [extents, spacing] :
       std::vector<std::pair<std::vector<Index>, std::vector<double>>>{{{100, 37}, {1, 1}},
                                                                       {{61, 130}, {1, 1}},
                                                                       {{50, 50}, {1, 10}},
                                                                       {{9, 200}, {1, 1}},
                                                                       {{20, 17, 23}, {1, 1, 1}},
                                                                       {{1000}, {1}}}) {
    for (const Points points : {Points::cells, Points::nodes}) {
      Case problem;
      problem.grid = {.extents = extents, .spacing = spacing, .points = points};
      for (Index p = 0; p < problem.box().points(); ++p)
        problem.f.push_back(random_uniform(3, static_cast<std::uint64_t>(p)));
      const Solved solved = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()), {});
      EXPECT_EQ(solved.state.end, iterate::End::converged);
      EXPECT_LE(solved.errors.size(), points == Points::nodes ? 14U : 20U) << layout::describe(problem.box());
    }
  }
}

// Squares of k = 1 and 100 in turn, where V-cycles alone need not converge.
TEST(Poisson, IsSolvedByConjugateGradientsWithMultigridWhereKJumps) {
  mpi::Context context(test_comm());
  Case problem;
  problem.grid = {.extents = {64, 64}, .spacing = {1, 1}};
  for (Index i = 0; i < 64; ++i) {
    for (Index j = 0; j < 64; ++j) {
      problem.k.push_back((i / 8 + j / 8) % 2 == 0 ? 1 : 100);
      problem.f.push_back(1);
    }
  }
  const Solved solved = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()),
                              {.method = Method::multigrid_conjugate_gradients});
  EXPECT_EQ(solved.state.end, iterate::End::converged) << solved.state.reason;
  RecordProperty("iterations", static_cast<int>(solved.state.step));
}

// Squares of k = 1 and 1e6 in turn, between sides of u = 1 and 0, and with sources: ‖b‖ is that of large k alone, or
// the residual of small k is nothing beside what rounding leaves of large k.
TEST(Poisson, EndsWhereUIsOffByNoMuchMoreThanTheToleranceWhereKJumps) {
  mpi::Context context(test_comm());
  constexpr double tolerance = 1e-6;
  for (const bool has_flow : {true, false}) {
    Case problem;
    problem.grid = {.extents = {12, 15}, .spacing = {1, 1}};
    if (has_flow) {
      problem.grid.sides = {given, flux};
      problem.given[0] = {1, 0};
    }
    for (Index i = 0; i < 12; ++i) {
      for (Index j = 0; j < 15; ++j) {
        problem.k.push_back((i / 3 + j / 3) % 2 == 0 ? 1 : 1e6);
        problem.f.push_back(has_flow ? 0 : 1);
      }
    }
    const std::vector<double> expected = reference(problem);
    double size = 0;
    for (const double value : expected) size = std::max(size, std::abs(value));
    std::vector<Method> methods{Method::conjugate_gradients, Method::pipelined_conjugate_gradients,
                                Method::multigrid_conjugate_gradients};
    methods.push_back(Method::lu);
    if (ranks() == 1) methods.insert(methods.end(), {Method::chebyshev, Method::sor});  // ten thousands of iterations
    for (const Method method : methods) {
      const Solved solved = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()),
                                  {.method = method, .limits = {.tolerance = tolerance, .most_iterations = 200'000}});
      EXPECT_EQ(solved.state.end, iterate::End::converged) << name(method) << ": " << solved.state.reason;
      double off = 0;
      for (std::size_t p = 0; p < expected.size(); ++p) off = std::max(off, std::abs(solved.u[p] - expected[p]));
      EXPECT_LE(off, 5 * tolerance * size) << name(method) << ", flow " << has_flow;
    }
  }
}

// Wide enough for parts of several ranks, and coarse levels on fewer.
TEST(Poisson, CyclesHaveTheSameBitsOnAnyNumberOfRanksAndOnAnyPartition) {
  mpi::Context context(test_comm()), alone(MPI_COMM_SELF);
  Random random{17};
  for (const auto& [extents, sides] : std::vector<std::pair<std::vector<Index>, std::vector<Axis::Sides>>>{
           {{45, 38}, {given, given}},
           {{41, 33}, {around, {Side::value, Side::flux}}},
           {{34, 37}, {flux, around}},
           {{39, 35}, {around, around}},
           {{19, 21, 18}, {given, flux, given}},
           {{17, 15, 13}, {around, around, around}},
           {{301}, {given}},
           {{129}, {around}}}) {
    for (const Points points : {Points::cells, Points::nodes}) {
      if (points == Points::nodes && std::ranges::find(sides, flux) != sides.end()) continue;
      if (points == Points::nodes && sides.back()[1] == Side::flux) continue;
      for (const bool k_varies : {false, true}) {
        Case problem;
        problem.grid = {
            .extents = extents, .spacing = std::vector(extents.size(), 0.25), .points = points, .sides = sides};
        for (Index p = 0; p < problem.box().points(); ++p) {
          if (k_varies) problem.k.push_back(std::exp(2 * random.real()));
          problem.f.push_back(random.real() - 0.5);
        }
        for (const Method method : {Method::v_cycles, k_varies ? Method::w_cycles : Method::f_cycles,
                                    Method::full_multigrid, Method::multigrid_conjugate_gradients}) {
          for (const Smoother smoother : {Smoother::red_black, Smoother::jacobi}) {
            if (smoother == Smoother::jacobi && method != Method::v_cycles) continue;
            SCOPED_TRACE(::testing::Message()
                         << layout::describe(problem.box()) << ", nodes " << (points == Points::nodes) << ", k "
                         << k_varies << ", method " << static_cast<int>(method) << ", smoother "
                         << static_cast<int>(smoother));
            Options options{.method = method, .limits = {.tolerance = 0, .most_iterations = 2}, .project = true};
            options.multigrid = {.smoother = smoother,
                                 .sweeps_before = 1 + (k_varies ? 1 : 0),
                                 .sweeps_after = 2,
                                 .least_points_per_rank = 30,
                                 .most_jump = 0};
            options.sums = krylov::Sums::reproducible;
            const Solved whole = solve(alone, problem, BoxPartition::for_ranks(problem.box(), 1), options);
            EXPECT_EQ(solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()), options).u, whole.u);
            if (method == Method::v_cycles) {
              const BoxPartition slabs(problem.box(), {1, extents.size() > 1 ? std::min(context.size(), 5) : 1, 1},
                                       context.size());
              EXPECT_EQ(solve(context, problem, slabs, options).u, whole.u);
            }
            EXPECT_LT(whole.errors.back(), 0.1);
          }
        }
      }
    }
  }
}

// Corrections are floats, u and residuals are not: in any units, and for a k that floats can't hold.
TEST(Poisson, CyclesAreAsExactAsDoublesInAnyUnits) {
  mpi::Context context(test_comm());
  for (const double unit : {1., 1e-40, 1e60}) {
    for (const double contrast : {1., 1e3, 1e14}) {
      Case problem;
      problem.grid = {.extents = {48, 48}, .spacing = {unit, unit}, .points = Points::nodes};
      for (Index i = 0; i < 48; ++i) {
        for (Index j = 0; j < 48; ++j) {
          const double wave = std::sin(0.13 * static_cast<double>(i + 1)) * std::sin(0.13 * static_cast<double>(j + 1));
          problem.k.push_back(unit * std::exp(0.5 * std::log(contrast) * (1 + wave)));
          problem.f.push_back(1 / unit);
        }
      }
      const bool is_smooth = contrast < 1e6;
      const Options options{.method = is_smooth ? Method::f_cycles : Method::multigrid_conjugate_gradients,
                            .limits = {.tolerance = is_smooth ? 1e-11 : 1e-7, .most_iterations = 100}};
      const Solved solved = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()), options);
      EXPECT_EQ(solved.state.end, iterate::End::converged) << unit << ", " << contrast << ": " << solved.state.reason;
    }
  }
}

TEST(Poisson, GoesOnFromACheckpointWithTheSameBits) {
  mpi::Context context(test_comm());
  Random random{11};
  const Case problem = random_case(random, true);
  for (const Method method : methods_for(problem)) {
    const Options options{.method = method, .limits = {.tolerance = 0, .most_iterations = 5}, .project = true};
    expect_same_bits_from_a_checkpoint(context, problem, options, 3);
    expect_refusal_of({}, context, problem, options, "no errors");
  }
}

TEST(Poisson, MakesNoMoreIterationsFromTheEndOfARun) {
  mpi::Context context(test_comm());
  Random random{11};
  const Case problem = random_case(random, true);
  for (const Method method : methods_for(problem)) {
    const Options options{.method = method, .limits = {.tolerance = 1e-6}, .project = true};
    expect_same_bits_from_a_checkpoint(context, problem, options, 2000);
  }
}

TEST(Poisson, WithoutAGivenValueWantsAMeanOfZeroUnlessToldToProject) {
  mpi::Context context(test_comm());
  Case problem;
  problem.grid = {.extents = {6, 5}, .spacing = {1, 1}, .sides = {flux, around}};
  problem.f.assign(30, 0.25);
  const BoxPartition partition = BoxPartition::for_ranks(problem.box(), ranks());
  EXPECT_THAT(message_of<ArgumentError>([&] { return solve(context, problem, partition, {}); }),
              AllOf(HasSubstr("mean"), HasSubstr("0.25"), HasSubstr("project")));
  EXPECT_NO_THROW((void)solve(context, problem, partition, {.project = true}));
  problem.given[0] = {-0.75, -0.75};  // flows out what f brings: 2 · 5 · 0.75 = 30 · 0.25
  const Solved solved = solve(context, problem, partition, {.limits = {.tolerance = 1e-10}});
  double sum = 0;
  for (const double u : solved.u) sum += u;
  EXPECT_NEAR(sum, 0, 1e-9);
}

TEST(Poisson, NamesWhatIsWrongOnAllRanks) {
  mpi::Context context(test_comm());
  Case good;
  good.grid = {.extents = {4, 5}, .spacing = {1, 1}};
  good.f.assign(20, 1);
  const auto expect = [&](const auto& change, const auto& text, Options options = {}) {
    Case bad = good;
    change(bad);
    EXPECT_THAT(message_of<ArgumentError>(
                    [&] { return solve(context, bad, BoxPartition::for_ranks(bad.box(), ranks()), options); }),
                HasSubstr(text));
  };
  const auto same = [](Case&) {};
  for (const double value : {0., -1., static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    expect([&](Case& c) { c.k.assign(20, 1), c.k[13] = value; }, fmt::format("k: is {} at (2, 3), expected", value));
  }
  expect([](Case& c) { c.f[19] = NAN; }, "f: is nan at (3, 4)");
  expect([](Case& c) { c.f[19] = 1e160; }, "f: with what is given on sides, its largest value is 1e+160");
  expect([](Case& c) { c.f.assign(20, 1e-160); }, "its largest value is 1e-160, expected 0 or 1e-140 to 1e+140");
  expect([](Case& c) { c.grid.spacing = {1, 0}; }, "spacing: is 0");
  expect([](Case& c) { c.grid.spacing = {1}; }, "spacing: there are 1, expected 2");
  expect([](Case& c) { c.grid.sides = {flux, {Side::periodic, Side::value}}; }, "sides: one of axis 1 is periodic");
  expect([](Case& c) { c.grid.points = Points::nodes, c.grid.sides = {given, flux}; }, "axis 1 has a flux");
  expect([](Case& c) { c.given[0][1] = NAN; }, "boundary: is nan on side 1 of axis 0");
  for (const double omega : {0., 2., -1., 2.5}) {
    expect(same, fmt::format("omega: is {}, expected one between 0 and 2", omega),
           {.method = Method::sor, .omega = omega});
  }
  expect(same, "tolerance is -1", {.limits = {.tolerance = -1}});
}

TEST(PoissonSolver, EndsAtRoundingWhereNoMoreCanBeReached) {
  mpi::Context context(test_comm());
  Case problem;
  problem.grid = {.extents = {24, 40}, .spacing = {1e-3, 1e-3}};
  for (Index p = 0; p < 960; ++p) problem.f.push_back(1 + random_uniform(3, static_cast<std::uint64_t>(p)));
  for (const double contrast : {1., 1e4}) {
    if (contrast > 1) {
      for (Index p = 0; p < 960; ++p) problem.k.push_back(p % 40 < 20 ? 1 : contrast);
    }
    for (const Method method : methods_for(problem)) {
      if (method == Method::jacobi || (contrast > 1 && method == Method::chebyshev)) continue;  // ten thousands
      const Solved solved = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()),
                                  {.method = method, .limits = {.tolerance = 1e-18, .most_iterations = 1'000'000}});
      EXPECT_EQ(solved.state.end, iterate::End::numbers) << poisson::name(method) << ": " << solved.state.reason;
      EXPECT_THAT(solved.state.reason, HasSubstr("rounding")) << poisson::name(method);
      EXPECT_LT(solved.state.error, 1e-9) << poisson::name(method);
      EXPECT_LT(solved.state.step, 20'000) << poisson::name(method);
    }
  }
}

}  // namespace
}  // namespace plait::test
