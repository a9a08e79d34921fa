#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Domain;
using sinkhorn::Marginals;
using sinkhorn::Rho;
using sinkhorn::Status;
using sinkhorn::Transport;
using sinkhorn::TransportOptions;
using ::testing::HasSubstr;

/// A plan and the value that it minimises, in long double.
struct Reference {
  std::vector<long double> plan;
  long double mass = 0;
  long double cost = 0;
  long double value = 0;
};

/// The fixed point by the textbook: u = (r / K v)^(rho / (rho + epsilon)), likewise v, until nothing changes any more.
Reference reference_unbalanced(const WholeProblem& whole, double epsilon, const Rho& rho, Index iterations = 3000) {
  const auto m = static_cast<std::size_t>(whole.rows);
  const auto n = static_cast<std::size_t>(whole.columns);
  const auto power = [&](long double of) -> long double { return std::isinf(of) ? 1 : of / (of + epsilon); };
  std::vector<long double> kernel;
  for (const double cost : whole.entries) kernel.push_back(std::exp(-static_cast<long double>(cost) / epsilon));
  std::vector<long double> u(m, 1);
  std::vector<long double> v(n, 1);
  const auto factor = [](long double marginal, long double sum, long double exponent) {
    return marginal == 0 || sum == 0 ? 0 : std::pow(marginal / sum, exponent);
  };
  for (Index iteration = 0; iteration < iterations; ++iteration) {
    for (std::size_t i = 0; i < m; ++i) {
      long double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += kernel[i * n + j] * v[j];
      u[i] = factor(whole.r[i], sum, power(rho.rows));
    }
    for (std::size_t j = 0; j < n; ++j) {
      long double sum = 0;
      for (std::size_t i = 0; i < m; ++i) sum += kernel[i * n + j] * u[i];
      v[j] = factor(whole.c[j], sum, power(rho.columns));
    }
  }
  Reference found;
  std::vector<long double> rows(m, 0);
  std::vector<long double> columns(n, 0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const long double entry = u[i] * kernel[i * n + j] * v[j];
      found.plan.push_back(entry);
      rows[i] += entry;
      columns[j] += entry;
      found.mass += entry;
      if (entry == 0) continue;
      found.cost += entry * whole.entries[i * n + j];
      found.value += entry * whole.entries[i * n + j] + epsilon * entry * (std::log(entry) - 1);
    }
  }
  const auto penalty = [](double of, const std::vector<long double>& p, const std::vector<double>& q) {
    long double sum = 0;
    for (std::size_t k = 0; k < q.size() && !std::isinf(of); ++k) {
      sum += p[k] > 0 ? p[k] * std::log(p[k] / q[k]) - p[k] + q[k] : q[k];
    }
    return std::isinf(of) ? 0 : of * sum;
  };
  found.value += penalty(rho.rows, rows, whole.r) + penalty(rho.columns, columns, whole.c);
  return found;
}

/// Random costs, and masses of which the columns have 1.5 times as many.
WholeProblem unbalanced_problem(Index rows, Index columns, std::uint64_t seed) {
  WholeProblem whole = random_problem(rows, columns, seed);
  for (double& c : whole.c) c *= 1.5;
  return whole;
}

struct Unbalanced : ::testing::Test {
  mpi::Context context{test_comm()};

  template <class T, class A>
  void expect_plan(const WholeProblem& whole, const TransportOptions& options, const Reference& reference,
                   double accuracy) {
    OwnRows<T> own(whole);
    const auto result = sinkhorn::transport<T, A>(context, own.const_view(), {own.r, whole.c}, options);
    EXPECT_EQ(result.outcome.status, Status::converged) << result.outcome.reason;
    EXPECT_NEAR(result.cost, static_cast<double>(reference.cost), accuracy);
    EXPECT_NEAR(result.mass, static_cast<double>(reference.mass), accuracy);
    EXPECT_NEAR(result.primal, static_cast<double>(reference.value), accuracy);
    EXPECT_NEAR(result.dual, static_cast<double>(reference.value), accuracy);
    sinkhorn::transport_plan_in_place<T, A>(own.view(), options.epsilon, result.f, result.g);
    double most = 0;
    for (Index i = 0; i < own.rows; ++i) {
      for (Index j = 0; j < own.columns; ++j) {
        const auto expected = reference.plan[static_cast<std::size_t>((own.first + i) * own.columns + j)];
        most = std::max(most, static_cast<double>(std::abs(static_cast<long double>(own.view()(i, j)) - expected)));
      }
    }
    EXPECT_LE(most, accuracy);
  }
};

constexpr Rho all_rho[] = {{0.3, 0.3}, {0.05, 1}, {infinity, 0.2}, {0.15, infinity}};

TEST_F(Unbalanced, FindsThePlanOfTheReferenceInBothDomains) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{1, 4}, {14, 9}, {9, 23}}) {
    for (const Rho& rho : all_rho) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", rho " + std::to_string(rho.rows) +
                   " and " + std::to_string(rho.columns));
      const WholeProblem whole = unbalanced_problem(rows, columns, 1);
      const Reference reference = reference_unbalanced(whole, 0.1, rho, 400);
      for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
        expect_plan<double, double>(
            whole, {.epsilon = 0.1, .domain = domain, .limits = {.tolerance = 1e-13}, .rho = rho}, reference, 1e-11);
      }
    }
  }
}

TEST_F(Unbalanced, FindsItInEveryPrecision) {
  const WholeProblem whole = unbalanced_problem(17, 12, 2);
  const Rho rho{0.2, 0.3};
  const Reference reference = reference_unbalanced(whole, 0.2, rho);
  for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
    expect_plan<float, float>(whole, {.epsilon = 0.2, .domain = domain, .limits = {.tolerance = 1e-5}, .rho = rho},
                              reference, 1e-4);
    expect_plan<float, double>(whole, {.epsilon = 0.2, .domain = domain, .limits = {.tolerance = 1e-12}, .rho = rho},
                               reference, 1e-6);
  }
}

TEST_F(Unbalanced, FindsItWhereFactorsAreBeyondTheRange) {
  // exp(-C / epsilon) is less than the smallest number wherever rows are far away: these keep nearly all of their mass.
  WholeProblem whole = unbalanced_problem(8, 7, 3);
  for (Index j = 0; j < 7; ++j) whole(2, j) += 3;
  const Rho rho{0.05, 0.08};
  // In long double exp(-4 / 5e-3) is a number.
  const Reference reference = reference_unbalanced(whole, 5e-3, rho);
  expect_plan<double, double>(whole, {.epsilon = 5e-3, .limits = {.tolerance = 1e-11}, .rho = rho}, reference, 1e-9);
}

TEST_F(Unbalanced, NearsTheBalancedPlanAsRhoGrows) {
  const WholeProblem whole = random_problem(11, 13, 4);
  const OwnRows<double> own(whole);
  const TransportOptions options{.epsilon = 0.2, .limits = {.tolerance = 1e-10}};
  const auto balanced = sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c}, options);
  TransportOptions relaxed = options;
  relaxed.rho = {1e5, 1e5};
  const auto nearly = sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c}, relaxed);
  EXPECT_NEAR(nearly.cost, balanced.cost, 1e-5);
  EXPECT_NEAR(nearly.mass, 1, 1e-5);
  EXPECT_GT(std::abs(nearly.mass - 1), 1e-9);
  EXPECT_EQ(balanced.row_divergence, 0);
}

TEST_F(Unbalanced, TakesNoLongerWhereRhoIsLarge) {
  // Masses of 1 and 1.5 lie far apart where it costs much to miss them: each update alone goes a share epsilon / rho of
  // the way.
  const WholeProblem whole = unbalanced_problem(8, 7, 10);
  const Index iterations = 4000;  // exp(-4000 * 2 * 0.1 / 20) of the way is left
  for (const Rho& rho : {Rho{20, 20}, Rho{infinity, 10}, Rho{10, infinity}}) {
    const Reference reference = reference_unbalanced(whole, 0.1, rho, iterations);
    for (const auto acceleration : {sinkhorn::Acceleration::none, sinkhorn::Acceleration::automatic}) {
      for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
        SCOPED_TRACE(fmt::format("rho {} and {}, {}", rho.rows, rho.columns, static_cast<int>(acceleration)));
        const TransportOptions options{
            .epsilon = 0.1,
            .domain = domain,
            .limits = {.tolerance = 1e-12, .most_iterations = 150, .acceleration = acceleration},
            .rho = rho};
        expect_plan<double, double>(whole, options, reference, 1e-8);
      }
    }
  }
}

TEST_F(Unbalanced, GoesOverToLogarithmsWhereFactorsOfALargeRhoLeaveTheRange) {
  const WholeProblem whole = unbalanced_problem(8, 7, 10);
  const OwnRows<double> own(whole);
  const Marginals marginals{own.r, whole.c};
  const TransportOptions options{.epsilon = 0.1, .rho = {1e4, 1e4}};
  const auto found = sinkhorn::transport<double, double>(context, own.const_view(), marginals, options);
  EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
  EXPECT_EQ(found.stages.back().domain, Domain::logarithmic);
  EXPECT_NEAR(found.mass, std::sqrt(1.5), 1e-3);  // the mean of both, as for rho that grows
  EXPECT_NEAR(found.gap(), 0, 1e-7);
  const auto together = sinkhorn::transport_batch<double, double>(
      context, own.const_view(), std::vector<Marginals>{marginals, marginals}, options);
  for (const auto& each : together) {
    EXPECT_EQ(each.outcome.status, Status::converged) << each.outcome.reason;
    EXPECT_NEAR(each.primal, found.primal, 1e-7);
  }
}

TEST_F(Unbalanced, LeavesWhatIsOutOfReachOrHasNoMass) {
  WholeProblem whole = unbalanced_problem(9, 8, 5);
  for (Index j = 0; j < 8; ++j) whole(3, j) = infinity;
  for (Index i = 0; i < 9; ++i) whole(i, 6) = infinity;
  whole.r[5] = 0;
  whole.c[1] = 0;
  for (Index j = 0; j < 8; ++j) {
    if (j != 1) whole(7, j) = infinity;  // a row that meets only a column without mass
  }
  const Rho rho{0.7, 0.4};
  const Reference reference = reference_unbalanced(whole, 0.1, rho);
  for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
    const TransportOptions options{.epsilon = 0.1, .domain = domain, .limits = {.tolerance = 1e-12}, .rho = rho};
    expect_plan<double, double>(whole, options, reference, 1e-10);
    // The potentials that belong to it are a start, also where they are -infinity.
    const OwnRows<double> own(whole);
    const Marginals marginals{own.r, whole.c};
    const auto cold = sinkhorn::transport<double, double>(context, own.const_view(), marginals, options);
    EXPECT_EQ(cold.g[6], -infinity);
    TransportOptions looser = options;
    looser.limits.tolerance = 1e-10;
    const auto warm = sinkhorn::transport<double, double>(context, own.const_view(), marginals, looser, cold.g);
    EXPECT_EQ(warm.outcome.iterations, 1);
  }
  EXPECT_THAT(message_of<ArgumentError>([&] {
                const OwnRows<double> own(whole);
                static_cast<void>(sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c},
                                                                      {.epsilon = 0.1, .rho = {infinity, 1}}));
              }),
              HasSubstr("row 3 has only costs of +infinity"));
}

TEST_F(Unbalanced, HasTheValueOfTheTheoryWhereNothingCanBeMoved) {
  // One side without mass, or nothing but forbidden: the plan is 0, and what it costs is to miss the masses there are,
  // which is the dual value, too, with potentials that go to infinity.
  for (const char* what : {"no rows", "no columns", "neither", "forbidden"}) {
    WholeProblem whole = unbalanced_problem(7, 5, 8);
    if (what[3] == 'r' || what[3] == 't') whole.r.assign(7, 0);
    if (what[3] == 'c' || what[3] == 't') whole.c.assign(5, 0);
    if (what[0] == 'f') whole.entries.assign(35, infinity);
    for (const Rho& rho : {Rho{0.3, 0.6}, Rho{infinity, 0.2}, Rho{0.15, infinity}}) {
      const bool rows_have_to = std::isinf(rho.rows) && whole.r[0] > 0;
      const bool columns_have_to = std::isinf(rho.columns) && whole.c[0] > 0;
      if (rows_have_to || columns_have_to) continue;  // for which there is no plan, see below
      const Reference reference = reference_unbalanced(whole, 0.1, rho, 3);
      for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
        SCOPED_TRACE(std::string(what) + ", rho " + std::to_string(rho.rows) + " and " + std::to_string(rho.columns));
        const TransportOptions options{.epsilon = 0.1, .domain = domain, .rho = rho};
        expect_plan<double, double>(whole, options, reference, 1e-14);
        const OwnRows<double> own(whole);
        const auto found = sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c}, options);
        for (const double potential : found.f) EXPECT_EQ(potential, -infinity);
        for (const double potential : found.g) EXPECT_EQ(potential, -infinity);
        const sinkhorn::Marginals given{own.r, whole.c};
        const auto wanted = sinkhorn::wanted_masses<double>(context, {&given, 1}, rho, {&found, 1}).front();
        EXPECT_EQ(wanted.total, 0);
        for (const double sum : wanted.columns) EXPECT_EQ(sum, 0);
      }
    }
  }
}

TEST_F(Unbalanced, HasNoPlanWhereOneSideHasNothingAndTheOtherMustNotBeMissed) {
  WholeProblem whole = unbalanced_problem(7, 5, 9);
  const std::vector<double> masses = whole.c;
  whole.r.assign(7, 0);
  const auto attempt = [&](const Rho& rho) {
    const OwnRows<double> own(whole);
    return sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c},
                                               {.epsilon = 0.1, .rho = rho});
  };
  const auto of_columns = attempt({0.5, infinity});
  EXPECT_EQ(of_columns.outcome.status, Status::infeasible_marginals);
  EXPECT_THAT(of_columns.outcome.reason, HasSubstr("5 columns that are to have a sum meet only what is forbidden"));
  whole.r.assign(7, 0.2);
  whole.c.assign(5, 0);
  const auto of_rows = attempt({infinity, 0.5});
  EXPECT_EQ(of_rows.outcome.status, Status::infeasible_marginals);
  EXPECT_THAT(of_rows.outcome.reason, HasSubstr("7 rows that are to have a sum meet only what is forbidden"));
}

TEST_F(Unbalanced, RefusesAnyOtherRho) {
  const WholeProblem whole = unbalanced_problem(4, 3, 6);
  const OwnRows<double> own(whole);
  for (const Rho& rho : {Rho{0, 1}, Rho{1, -2}, Rho{std::nan(""), 1}}) {
    EXPECT_THAT(message_of<ArgumentError>([&] {
                  return sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c},
                                                             {.epsilon = 1, .rho = rho});
                }),
                HasSubstr("expected a number > 0, infinity for none"));
  }
}

}  // namespace
}  // namespace plait::test
