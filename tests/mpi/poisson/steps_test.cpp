// Jacobi's and Chebyshev's iterations, several steps an exchange.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/relaxation.hpp"

#include "mpi/poisson/problems.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using ::testing::HasSubstr;

constexpr std::array iterations_by_steps{Method::jacobi, Method::chebyshev};
constexpr Axis::Sides mixed{Side::flux, Side::value};

std::vector<Case> problems() {
  std::vector<Case> cases;
  Random random{21};
  for (const auto& [extents, sides] :
       std::vector<std::pair<std::vector<Index>, std::vector<Axis::Sides>>>{{{23}, {given}},
                                                                            {{19}, {around}},
                                                                            {{17, 14}, {given, mixed}},
                                                                            {{9, 21}, {around, given}},
                                                                            {{4, 3}, {around, around}},
                                                                            {{7, 9, 6}, {given, flux, mixed}},
                                                                            {{6, 5, 8}, {around, given, around}},
                                                                            {{2, 1, 3}, {given, given, given}}}) {
    for (const bool k_varies : {false, true}) {
      Case problem;
      problem.grid = {.extents = extents, .spacing = std::vector(extents.size(), 0.5), .sides = sides};
      for (Index p = 0; p < problem.box().points(); ++p) {
        problem.f.push_back(random.real() - 0.5);
        if (k_varies) problem.k.push_back(std::exp(2 * random.real()));
      }
      for (auto& sides_of_axis : problem.given) sides_of_axis = {random.real(), random.real()};
      cases.push_back(problem);
    }
  }
  return cases;
}

TEST(StepsOfAnExchange, GiveTheBitsOfOneStepAnExchange) {
  mpi::Context context(test_comm()), alone(MPI_COMM_SELF);
  constexpr Index most = 16;
  for (const Case& problem : problems()) {
    const BoxPartition whole = BoxPartition::for_ranks(problem.box(), 1);
    const BoxPartition partition = BoxPartition::for_ranks(problem.box(), ranks());
    for (const Method method : iterations_by_steps) {
      SCOPED_TRACE(::testing::Message() << layout::describe(problem.box()) << ", k " << !problem.k.empty() << ", "
                                        << poisson::name(method));
      Options options{.method = method, .sums = krylov::Sums::reproducible, .project = true};
      for (Index steps = 1; steps <= 8; steps += problem.k.empty() ? 1 : 3) {
        options.limits = {.tolerance = 0, .most_iterations = most / steps * steps};
        options.steps_per_exchange = 1;
        const Solved plain = solve(alone, problem, whole, options);
        options.limits.most_iterations = most / steps;
        options.steps_per_exchange = steps;
        const Solved found = solve(context, problem, partition, options);
        ASSERT_EQ(found.u, plain.u) << steps << " steps";
        for (std::size_t i = 0; i < found.errors.size(); ++i) {
          ASSERT_EQ(found.errors[i], plain.errors[(i + 1) * at(steps) - 1]) << steps << " steps";
        }
      }
    }
  }
}

struct Sent {
  Index messages = 0, bytes = 0;
};

// On this rank, by so many iterations, without those of the beginning.
Sent sent(mpi::Context& context, const Case& problem, const BoxPartition& partition, Method method, Index iterations,
          Index steps) {
  const std::vector<double> f = part(problem.f, problem.box(), partition.box(rank()));
  Solver solver(context, problem.grid, partition, {}, f, {},
                {.method = method, .limits = {.tolerance = 0}, .steps_per_exchange = steps});
  solver.advance();
  context.counters().clear();
  for (Index i = 0; i < iterations; ++i) EXPECT_TRUE(solver.advance());
  Sent all;
  for (const PeerClass peer : {PeerClass::node, PeerClass::network}) {
    const auto& halo = context.counters()["halo"].sent_to(peer);
    all.messages += halo.messages + context.counters()["dots"].sent_to(peer).messages;
    all.bytes += halo.bytes;
  }
  return all;
}

TEST(StepsOfAnExchange, DivideMessagesByTheirNumberExactly) {
  mpi::Context context(test_comm());
  Case flat, deep;
  flat.grid = {.extents = {64, 64}, .spacing = {1, 1}};
  deep.grid = {.extents = {16, 18, 40}, .spacing = {1, 1, 1}, .sides = {given, around, given}};
  constexpr Index iterations = 3;
  for (Case* const problem : {&flat, &deep}) {
    problem->f.assign(at(problem->box().points()), 1);
    const BoxPartition partition = BoxPartition::for_ranks(problem->box(), ranks());
    for (const Method method : iterations_by_steps) {
      // As an iteration of one step has: k steps have so many together.
      const Sent once = sent(context, *problem, partition, method, iterations, 1);
      EXPECT_EQ(once.messages > 0, ranks() > 1);
      for (Index k = 2; k <= 8; ++k) {
        const Sent found = sent(context, *problem, partition, method, iterations, k);
        EXPECT_EQ(found.messages, once.messages) << k << " steps an exchange, " << poisson::name(method);
        EXPECT_GE(found.bytes, once.bytes * k);
      }
    }
  }
}

// Of n × n nodes with k = 1 the eigenvalues are known, and so is how fast errors fall.
TEST(Chebyshev, ConvergesAsFastAsTheBoundsOfTheSpectrumAllow) {
  mpi::Context context(test_comm());
  for (const Index n : {15, 31, 63}) {
    Case problem;
    problem.grid = {.extents = {n, n}, .spacing = {1, 1}, .points = Points::nodes};
    for (Index p = 0; p < n * n; ++p) problem.f.push_back(random_uniform(4, static_cast<std::uint64_t>(p)) - 0.5);
    const Solved solved = solve(context, problem, BoxPartition::for_ranks(problem.box(), ranks()),
                                {.method = Method::chebyshev, .limits = {.tolerance = 1e-8}});
    EXPECT_EQ(solved.state.end, iterate::End::converged);
    // 2 ((√κ - 1) / (√κ + 1))^i
    const double root = 1 / std::tan(M_PI / 2 / static_cast<double>(n + 1));
    const double expected = std::log(2 / 1e-8) / std::log((root + 1) / (root - 1));
    EXPECT_LE(static_cast<double>(solved.state.step), 1.1 * expected) << n;
  }
}

TEST(Chebyshev, TakesTheExtremeEigenvaluesOfTheScaledMatrix) {
  mpi::Context context(test_comm());
  constexpr Index n = 40;
  const Axis axis(n, 0.1, Points::nodes, given);
  const BoxPartition partition(Box{{}, {1, n, n}}, {1, ranks(), 1}, ranks());
  const std::vector<double> f(at(partition.box(rank()).points()), 1);
  const poisson::Axes axes{Axis::unused(), axis, axis};
  poisson::Equation equation(context, {axes, partition, {}, f, {}, {}, {}}, partition, 1, false);
  const krylov::Extremes found = poisson::scaled_spectrum(context, equation);
  const double exact = 1 - std::cos(M_PI / (n + 1));
  EXPECT_GE(found.low, exact * (1 - 1e-9));
  EXPECT_LE(found.low, exact * 1.02);
  EXPECT_NEAR(found.high, 2 - exact, 0.05);
}

// Of many ω, none is better by much.
TEST(OverRelaxation, FindsTheBestOmegaWhereNoFormulaHolds) {
  mpi::Context context(test_comm()), alone(MPI_COMM_SELF);
  for (const auto& [sides, k_varies] : std::vector<std::pair<std::vector<Axis::Sides>, bool>>{
           {{given, given}, true}, {{flux, flux}, false}, {{mixed, given}, true}, {{mixed, flux}, false}}) {
    Case problem;
    problem.grid = {.extents = {30, 24}, .spacing = {1, 1}, .sides = sides};
    Random random{3};
    for (Index p = 0; p < 720; ++p) {
      problem.f.push_back(random.real() - 0.5);
      if (k_varies) problem.k.push_back(std::exp(3 * random.real()));
    }
    const BoxPartition partition = BoxPartition::for_ranks(problem.box(), ranks());
    Options options{.method = Method::sor, .limits = {.tolerance = 1e-8}, .project = true};
    const Solved found = solve(context, problem, partition, options);
    Index least = found.state.step;
    for (int i = rank(); i < 17; i += ranks()) {  // ranks share them out
      options.omega = 1.5 + 0.03 * i;
      const Solved other = solve(alone, problem, BoxPartition::for_ranks(problem.box(), 1), options);
      least = std::min(least, other.state.step);
    }
    least = mpi::all_reduce(context.comm(), least, mpi::Operation::minimum());
    EXPECT_LE(static_cast<double>(found.state.step), 1.15 * static_cast<double>(least));
  }
}

TEST(StepsOfAnExchange, GoOnFromACheckpointWithTheSameBits) {
  mpi::Context context(test_comm());
  const Case problem = problems()[5];
  for (const Method method : iterations_by_steps) {
    const Options options{
        .method = method, .limits = {.tolerance = 0, .most_iterations = 9}, .steps_per_exchange = 3, .project = true};
    iterate::Checkpoint checkpoint = expect_same_bits_from_a_checkpoint(context, problem, options, 4);
    if (method != Method::chebyshev) continue;
    checkpoint.numbers.clear();
    expect_refusal_of(checkpoint, context, problem, options, "and ρ");
  }
}

TEST(StepsOfAnExchange, ComeFromTheModelOrAreRefused) {
  mpi::Context context(test_comm());
  Case problem;
  problem.grid = {.extents = {12, 12}, .spacing = {1, 1}};
  const BoxPartition partition = BoxPartition::for_ranks(problem.box(), ranks());
  const std::vector<double> f(at(partition.box(rank()).points()), 1);
  Options options{.method = Method::jacobi, .steps_per_exchange = 0};
  const Solver solver(context, problem.grid, partition, {}, f, {}, options);
  EXPECT_GE(solver.steps_per_exchange(), 1);
  EXPECT_TRUE(ranks() > 1 || solver.steps_per_exchange() == 1);
  options.steps_per_exchange = -1;
  EXPECT_THAT(message_of<ArgumentError>([&] { Solver(context, problem.grid, partition, {}, f, {}, options); }),
              HasSubstr("steps_per_exchange: is -1, expected 0 to 1024"));
}

}  // namespace
}  // namespace plait::test
