#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn.hpp"

#include "mpi/sinkhorn/problem.hpp"

namespace plait::test {
namespace {

using sinkhorn::Acceleration;
using sinkhorn::Domain;
using sinkhorn::Limits;
using sinkhorn::Marginals;
using sinkhorn::Status;

/// Random numbers in (0, 1), one after the other; the same on all ranks.
struct Dice {
  std::uint64_t seed;
  std::uint64_t thrown = 0;
  double operator()() { return random_uniform(seed, thrown++); }
  Index below(Index n) { return std::min(n - 1, static_cast<Index>((*this)() * static_cast<double>(n))); }
};

/// Costs between 0 and 1: any, or squared distances in one to three dimensions; in a quarter of the problems with two
/// thirds forbidden, but for a plan that has the masses. Masses are alike to a factor of ten, or to ten decades.
WholeProblem random_transport(std::uint64_t seed) {
  Dice dice{seed};
  WholeProblem whole{5 + dice.below(30), 5 + dice.below(30), {}, {}, {}};
  const Index kind = dice.below(4);
  const double decades = dice() < 0.5 ? 10 : 1;
  for (auto [masses, n] : {std::pair{&whole.r, whole.rows}, {&whole.c, whole.columns}}) {
    for (Index i = 0; i < n; ++i) masses->push_back(std::pow(10, decades * (dice() - 0.5)));
  }
  std::vector<std::vector<double>> points(3);
  for (Index k = 0; k < 3; ++k) {
    for (Index i = 0; i < whole.rows + whole.columns; ++i) points[static_cast<std::size_t>(k)].push_back(dice());
  }
  for (Index i = 0; i < whole.rows; ++i) {
    for (Index j = 0; j < whole.columns; ++j) {
      double cost = kind == 0 ? dice() : 0;
      for (Index k = 0; k < kind; ++k) {
        const auto& of = points[static_cast<std::size_t>(k)];
        cost += std::pow(of[static_cast<std::size_t>(i)] - of[static_cast<std::size_t>(whole.rows + j)], 2) /
                static_cast<double>(kind);
      }
      whole.entries.push_back(cost);
    }
  }
  if (kind == 0 && dice() < 0.8) {
    // The masses of a plan on some of the entries; a path from corner to corner makes them connected.
    std::vector<double> r(whole.r.size()), c(whole.c.size());
    for (Index i = 0; i < whole.rows; ++i) {
      for (Index j = 0; j < whole.columns; ++j) {
        const bool is_on_path = i * whole.columns / whole.rows == j || j * whole.rows / whole.columns == i;
        const double mass = whole.r[static_cast<std::size_t>(i)] * whole.c[static_cast<std::size_t>(j)];
        if (!is_on_path && dice() < 2. / 3) {
          whole(i, j) = sinkhorn::infinity;
        } else {
          r[static_cast<std::size_t>(i)] += mass;
          c[static_cast<std::size_t>(j)] += mass;
        }
      }
    }
    whole.r = r;
    whole.c = c;
  }
  for (auto* masses : {&whole.r, &whole.c}) {
    double sum = 0;
    for (const double mass : *masses) sum += mass;
    for (double& mass : *masses) mass /= sum;
  }
  return whole;
}

struct Accelerated : ::testing::Test {
  mpi::Context context{test_comm()};
};

TEST_F(Accelerated, TakesAQuarterOfTheIterationsAtMostInTheMedianOfSmallEpsilonsAndNeverManyMore) {
  constexpr Index problems = 100;
  constexpr Index most = 2000;
  std::vector<double> shares;  // of small epsilons
  for (Index k = 0; k < problems; ++k) {
    const WholeProblem whole = random_transport(static_cast<std::uint64_t>(9000 + k));
    const double epsilon = std::pow(10, -1 - 3 * static_cast<double>(k) / problems);
    SCOPED_TRACE(fmt::format("problem {}, {} x {}, epsilon {:.3g}", k, whole.rows, whole.columns, epsilon));
    const OwnRows<double> own(whole);
    const auto with = [&](Acceleration acceleration) {
      return sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c},
                                                 {.epsilon = epsilon,
                                                  .domain = Domain::logarithmic,
                                                  .first_epsilon = epsilon,
                                                  .limits = {1e-6, most, acceleration}});
    };
    const auto plain = with(Acceleration::none);
    const auto found = with(Acceleration::automatic);
    EXPECT_LE(found.outcome.iterations, static_cast<Index>(1.1 * static_cast<double>(plain.outcome.iterations)) + 5);
    if (plain.outcome.status != Status::iteration_limit) {
      EXPECT_EQ(found.outcome.status, plain.outcome.status) << found.outcome.reason;
      EXPECT_NEAR(found.dual, plain.dual, 1e-5);
    } else if (found.outcome.status == Status::iteration_limit) {
      EXPECT_GE(found.dual, plain.dual - 1e-5);
    }
    if (epsilon > 0.005) continue;
    shares.push_back(static_cast<double>(found.outcome.iterations) / static_cast<double>(plain.outcome.iterations));
  }
  std::ranges::nth_element(shares, shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2));
  EXPECT_LE(shares[shares.size() / 2], 0.25);
}

/// Two blocks that hardly know each other.
WholeProblem slow_problem() {
  WholeProblem whole = random_problem(16, 16, 7);
  for (Index i = 0; i < 16; ++i) {
    for (Index j = 0; j < 16; ++j) whole(i, j) *= (i < 8) == (j < 8) ? 1 : 0.02;
  }
  return whole;
}

TEST_F(Accelerated, IsQuickerInEveryFormAndEndsAtTheSamePlan) {
  const WholeProblem whole = slow_problem();
  const std::vector<long double> reference = reference_plan(whole, 3000);
  const OwnRows<double> own(whole);
  const Marginals marginals{own.r, whole.c};
  const auto rows = sparse<double>(whole);
  using Form = std::function<sinkhorn::Scaling<double>(const Limits&)>;
  const Form forms[] = {
      [&](const Limits& limits) {
        return sinkhorn::scale<double, double>(context, own.const_view(), marginals, limits);
      },
      [&](const Limits& limits) { return sinkhorn::scale<double, double>(context, rows, marginals, limits); },
      [&](const Limits& limits) {
        return sinkhorn::scale_batch<double, double>(context, own.const_view(), std::vector{marginals, marginals},
                                                     limits)[1];
      },
  };
  for (const Form& form : forms) {
    const auto plain = form({.tolerance = 1e-12, .acceleration = Acceleration::none});
    const auto found = form({.tolerance = 1e-12});
    EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
    EXPECT_LT(2 * found.outcome.iterations, plain.outcome.iterations);
    for (Index i = 0; i < own.rows; ++i) {
      for (Index j = 0; j < 16; ++j) {
        const double entry =
            found.u[static_cast<std::size_t>(i)] * own.const_view()(i, j) * found.v[static_cast<std::size_t>(j)];
        EXPECT_NEAR(entry, static_cast<double>(reference[static_cast<std::size_t>((own.first + i) * 16 + j)]), 1e-11);
      }
    }
  }
}

TEST_F(Accelerated, BalancesAndFindsBarycentresInFewerIterations) {
  const WholeProblem any = random_problem(16, 16, 7);
  WholeProblem whole = any;
  for (Index i = 0; i < 16; ++i) {  // nearly bipartite
    for (Index j = 0; j < 16; ++j) whole(i, j) = (i + j) % 2 == 1 ? any(std::min(i, j), std::max(i, j)) : 1e-3;
  }
  const OwnRows<double> own(whole);
  const auto balanced = sinkhorn::balance<double>(context, own.const_view());
  const auto plainly = sinkhorn::balance<double>(context, own.const_view(), 1, {.acceleration = Acceleration::none});
  EXPECT_EQ(balanced.outcome.status, Status::converged) << balanced.outcome.reason;
  EXPECT_LT(4 * balanced.outcome.iterations, plainly.outcome.iterations);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(balanced.x[i], plainly.x[i], 1e-6 * plainly.x[i]);

  const WholeProblem costs = costs_of(points(20, 3), points(20, 4));
  const OwnRows<double> own_costs(costs);
  const WholeProblem masses = random_problem(20, 20, 5);
  for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
    const auto with = [&](Acceleration acceleration) {
      return sinkhorn::barycentre<double>(context, own_costs.const_view(), {{masses.r, masses.c}, {}},
                                          {0.005, domain, 0.005, {.acceleration = acceleration}});
    };
    const auto plain = with(Acceleration::none);
    const auto found = with(Acceleration::automatic);
    EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
    EXPECT_LT(3 * found.outcome.iterations, 2 * plain.outcome.iterations);
    for (std::size_t i = 0; i < found.masses.size(); ++i) EXPECT_NEAR(found.masses[i], plain.masses[i], 1e-7);
  }
}

TEST_F(Accelerated, GoesOnWithTheSameBitsFromAnyState) {
  const WholeProblem whole = random_transport(9095);
  const OwnRows<double> own(whole);
  for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
    const double epsilon = domain == Domain::factors ? 0.01 : 0.002;
    sinkhorn::TransportOptions options{
        .epsilon = epsilon, .domain = domain, .first_epsilon = epsilon, .limits = {.tolerance = 1e-10}};
    const auto transported = [&] {
      return sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c}, options);
    };
    std::vector<iterate::Checkpoint> states;
    options.limits.checkpoints.is_due = [](Index) { return true; };
    options.limits.checkpoints.keep = [&](const iterate::Checkpoint& state) { states.push_back(state); };
    const auto expected = transported();
    ASSERT_GT(states.size(), 10U);
    options.limits.checkpoints.keep = {};
    for (const iterate::Checkpoint& state : states) {
      options.limits.checkpoints.from = &state;
      const auto resumed = transported();
      EXPECT_EQ(resumed.outcome.errors, expected.outcome.errors);
      EXPECT_EQ(resumed.f, expected.f);
      EXPECT_EQ(resumed.g, expected.g);
    }
  }
}

TEST_F(Accelerated, GoesOnWithALargerLimitFromTheStateBeforeTheLastIteration) {
  const WholeProblem whole = random_problem(14, 11, 5);
  const OwnRows<double> own(whole);
  const Index n = 12;
  WholeProblem symmetric = random_problem(n, n, 8);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) symmetric(i, j) = symmetric(j, i);
  }
  const OwnRows<double> own_symmetric(symmetric);
  const auto joined = [](std::vector<double> a, const std::vector<double>& b, const std::vector<double>& c) {
    a.insert(a.end(), b.begin(), b.end());
    a.insert(a.end(), c.begin(), c.end());
    return a;
  };
  using Run = std::function<std::vector<double>(const sinkhorn::Limits&)>;
  std::vector<Run> runs{[&](const sinkhorn::Limits& limits) {
                          const auto found =
                              sinkhorn::scale<double, double>(context, own.const_view(), {own.r, whole.c}, limits);
                          return joined(found.u, found.v, found.outcome.errors);
                        },
                        [&](const sinkhorn::Limits& limits) {
                          const auto found = sinkhorn::balance<double>(context, own_symmetric.const_view(), 1, limits);
                          return joined(found.x, {}, found.outcome.errors);
                        }};
  for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
    for (const double rho : {sinkhorn::infinity, 2.0}) {
      runs.emplace_back([&, domain, rho](const sinkhorn::Limits& limits) {
        const sinkhorn::TransportOptions options{
            .epsilon = 0.01, .domain = domain, .first_epsilon = 0.04, .limits = limits, .rho = {rho, rho}};
        const auto found = sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c}, options);
        return joined(found.f, found.g, found.outcome.errors);
      });
    }
    runs.emplace_back([&, domain](const sinkhorn::Limits& limits) {
      const sinkhorn::TransportOptions options{.epsilon = 0.02, .domain = domain, .limits = limits};
      const auto found = sinkhorn::barycentre<double>(context, own.const_view(), {{whole.c, whole.c}, {}}, options);
      return joined(found.masses, found.costs, found.outcome.errors);
    });
  }
  for (std::size_t k = 0; k < runs.size(); ++k) {
    SCOPED_TRACE(k);
    const auto limits_of = [](Index most) {
      return sinkhorn::Limits{.tolerance = 0, .most_iterations = most, .acceleration = Acceleration::none};
    };
    sinkhorn::Limits keeping = limits_of(4);
    iterate::Checkpoint kept;
    keeping.checkpoints.is_due = [](Index) { return true; };
    keeping.checkpoints.keep = [&](const iterate::Checkpoint& state) { kept = state; };
    EXPECT_EQ(runs[k](keeping), runs[k](limits_of(4)));
    ASSERT_EQ(kept.shared["errors"].size(), 3U);
    sinkhorn::Limits on = limits_of(7);
    on.checkpoints.from = &kept;
    std::vector<Index> told;
    on.listener = [&](Index iteration, double) { told.push_back(iteration); };
    EXPECT_EQ(runs[k](on), runs[k](limits_of(7)));
    EXPECT_EQ(told, (std::vector<Index>{4, 5, 6, 7}));
  }
}

TEST_F(Accelerated, ProvesAsMuchAsPlainly) {
  // Rows 0 to 2 reach the columns 0 and 1 alone, by ones; all sums are to be alike.
  WholeProblem whole = random_problem(12, 12, 9);
  whole.r.assign(12, 1);
  whole.c.assign(12, 1);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 2; j < 12; ++j) whole(i, j) = 0;
  }
  const OwnRows<double> own(whole);
  for (const auto acceleration : {Acceleration::none, Acceleration::automatic}) {
    const auto found =
        sinkhorn::scale<double, double>(context, own.const_view(), {own.r, whole.c}, {.acceleration = acceleration});
    EXPECT_EQ(found.outcome.status, Status::no_support) << found.outcome.reason;
    EXPECT_LE(found.outcome.iterations, 64);
  }
}

}  // namespace
}  // namespace plait::test
