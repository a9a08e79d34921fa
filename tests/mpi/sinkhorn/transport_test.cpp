#include "plait/sinkhorn/transport/transport.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/transport/barycentre.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Domain;
using sinkhorn::Status;
using sinkhorn::Transport;
using sinkhorn::TransportOptions;
using ::testing::HasSubstr;

/// The plan by the textbook: sums of exponentials with their maximum taken out, in long double.
std::vector<long double> reference_transport(const WholeProblem& whole, double epsilon, Index iterations) {
  const auto m = static_cast<std::size_t>(whole.rows);
  const auto n = static_cast<std::size_t>(whole.columns);
  std::vector<long double> f(m, 0);
  std::vector<long double> g(n, 0);
  const auto exponent = [&](std::size_t i, std::size_t j) {
    return -static_cast<long double>(whole.entries[i * n + j]) / epsilon;
  };
  const auto log_sum = [](const std::vector<long double>& terms) {
    const long double most = *std::ranges::max_element(terms);
    if (std::isinf(most)) return most;
    long double sum = 0;
    for (const long double term : terms) sum += std::exp(term - most);
    return most + std::log(sum);
  };
  for (Index iteration = 0; iteration < iterations; ++iteration) {
    for (std::size_t i = 0; i < m; ++i) {
      std::vector<long double> terms;
      for (std::size_t j = 0; j < n; ++j) terms.push_back(exponent(i, j) + g[j]);
      f[i] = whole.r[i] == 0 ? -infinity : std::log(static_cast<long double>(whole.r[i])) - log_sum(terms);
    }
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<long double> terms;
      for (std::size_t i = 0; i < m; ++i) terms.push_back(exponent(i, j) + f[i]);
      g[j] = whole.c[j] == 0 ? -infinity : std::log(static_cast<long double>(whole.c[j])) - log_sum(terms);
    }
  }
  std::vector<long double> plan;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) plan.push_back(std::exp(exponent(i, j) + f[i] + g[j]));
  }
  return plan;
}

/// Costs |x - y|^2 of points on a line.
WholeProblem points_problem(Index rows, Index columns, std::uint64_t seed) {
  WholeProblem whole = random_problem(rows, columns, seed);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const double x = random_uniform(seed + 1, static_cast<std::uint64_t>(i));
      const double y = random_uniform(seed + 2, static_cast<std::uint64_t>(j));
      whole(i, j) = (x - y) * (x - y);
    }
  }
  return whole;
}

struct OptimalTransport : ::testing::Test {
  mpi::Context context{test_comm()};

  template <class T, class A>
  Transport<A> transported(const WholeProblem& whole, const TransportOptions& options,
                           const std::vector<A>& start = {}) {
    const OwnRows<T> own(whole);
    return sinkhorn::transport<T, A>(context, own.const_view(), {own.r, whole.c}, options, start);
  }

  /// The largest |plan - reference| over all of this rank's entries, and a look at the numbers that belong to the plan.
  template <class T, class A>
  void expect_plan(const WholeProblem& whole, const TransportOptions& options,
                   const std::vector<long double>& reference, double accuracy) {
    OwnRows<T> own(whole);
    const auto result = sinkhorn::transport<T, A>(context, own.const_view(), {own.r, whole.c}, options);
    EXPECT_EQ(result.outcome.status, Status::converged) << result.outcome.reason;
    sinkhorn::transport_plan_in_place<T, A>(own.view(), options.epsilon, result.f, result.g);
    long double cost = 0;
    for (Index i = 0; i < whole.rows; ++i) {
      for (Index j = 0; j < whole.columns; ++j) {
        const long double entry = reference[static_cast<std::size_t>(i * whole.columns + j)];
        if (entry > 0) cost += whole(i, j) * entry;
      }
    }
    double most = 0;
    for (Index i = 0; i < own.rows; ++i) {
      for (Index j = 0; j < own.columns; ++j) {
        const long double expected = reference[static_cast<std::size_t>((own.first + i) * own.columns + j)];
        most = std::max(most, static_cast<double>(std::abs(static_cast<long double>(own.view()(i, j)) - expected)));
      }
    }
    EXPECT_LE(most, accuracy);
    EXPECT_NEAR(result.cost, static_cast<double>(cost), 10 * accuracy);
    EXPECT_NEAR(result.mass, 1, 10 * accuracy);
    EXPECT_NEAR(result.gap(), 0, 10 * accuracy);
  }
};

TEST_F(OptimalTransport, FindsThePlanOfTheReferenceInBothDomains) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{1, 1}, {1, 5}, {6, 1}, {9, 14}, {20, 17}, {3, 70}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    const WholeProblem whole = points_problem(rows, columns, 1);
    const auto reference = reference_transport(whole, 0.1, 300);
    for (const Domain domain : {Domain::automatic, Domain::factors, Domain::logarithmic}) {
      expect_plan<double, double>(whole, {.epsilon = 0.1, .domain = domain, .limits = {.tolerance = 1e-13}}, reference,
                                  1e-12);
    }
  }
}

TEST_F(OptimalTransport, HearsOfRanksThatMeanDifferentProblems) {
  if (ranks() == 1) return;
  const WholeProblem whole = points_problem(9, 8, 5);
  const bool differs = rank() == 1;
  EXPECT_THAT(message_of<ArgumentError>(
                  ([&] { static_cast<void>(transported<double, double>(whole, {.epsilon = differs ? 0.2 : 0.1})); })),
              HasSubstr("rank 1: epsilon: is 0.2, but 0.1 on rank 0"));
  TransportOptions options{.epsilon = 0.1};
  options.limits.tolerance = differs ? 1e-6 : 1e-9;
  EXPECT_THAT(message_of<ArgumentError>(([&] { static_cast<void>(transported<double, double>(whole, options)); })),
              HasSubstr("rank 1: tolerance: is 1e-06, but 1e-09 on rank 0"));
  EXPECT_THAT(message_of<ArgumentError>(([&] {
                if (differs) return static_cast<void>(transported<float, double>(whole, {.epsilon = 0.1}));
                static_cast<void>(transported<double, double>(whole, {.epsilon = 0.1}));
              })),
              HasSubstr("rank 1: element type: is f32, but f64 on rank 0"));
  WholeProblem other = whole;
  if (differs) std::swap(other.c[0], other.c[1]);
  EXPECT_THAT(
      message_of<ArgumentError>(([&] { static_cast<void>(transported<double, double>(other, {.epsilon = 0.1})); })),
      HasSubstr("the marginals of the columns differ from rank to rank"));
  const auto average = [&](const std::vector<double>& masses, double weight) {
    const OwnRows<double> own(whole);
    const std::vector<double> weights{weight, 1 - weight};
    static_cast<void>(
        sinkhorn::barycentre<double>(context, own.const_view(), {{whole.c, masses}, weights}, {.epsilon = 0.1}));
  };
  EXPECT_THAT(message_of<ArgumentError>([&] { average(other.c, 0.5); }), HasSubstr("rank 1: histogram 1: digest: is "));
  EXPECT_THAT(message_of<ArgumentError>([&] { average(whole.c, differs ? 0.25 : 0.5); }),
              HasSubstr("rank 1: histogram 0: weight: is 0.25, but 0.5 on rank 0"));
}

TEST_F(OptimalTransport, FindsItInEveryPrecision) {
  const WholeProblem whole = points_problem(19, 26, 2);
  const auto reference = reference_transport(whole, 0.1, 300);
  for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
    expect_plan<float, float>(whole, {.epsilon = 0.1, .domain = domain, .limits = {.tolerance = 1e-5}}, reference,
                              1e-5);
    expect_plan<float, double>(whole, {.epsilon = 0.1, .domain = domain, .limits = {.tolerance = 1e-12}}, reference,
                               1e-6);
  }
}

TEST_F(OptimalTransport, FindsItWhereFactorsAreBeyondTheRange) {
  // exp(-C / epsilon) is as little as exp(-5e3) there, and so are all entries of one row.
  WholeProblem whole = points_problem(12, 15, 3);
  for (Index j = 0; j < 15; ++j) whole(4, j) += 10;
  const auto reference = reference_transport(whole, 2e-3, 5000);
  expect_plan<double, double>(whole, {.epsilon = 2e-3, .limits = {.tolerance = 1e-10, .most_iterations = 100'000}},
                              reference, 1e-8);
}

TEST_F(OptimalTransport, GoesOverToLogarithmsByItselfWhereFactorsLeaveTheirRange) {
  // Row i may send to columns i and i + 1 only, so that the plan is known. Each cost is within the range of factors,
  // but the potentials differ by 400 from column to column.
  constexpr Index n = 8;
  constexpr double straight = 0.08;
  constexpr double aside = 0.04;
  WholeProblem whole{n, n, std::vector<double>(n * n, infinity), {}, {}};
  for (Index i = 0; i < n; ++i) {
    whole(i, i) = 400;
    if (i + 1 < n) whole(i, i + 1) = 0;
    whole.r.push_back(i + 1 < n ? straight + aside : straight);
    whole.c.push_back(i > 0 ? straight + aside : straight);
  }
  OwnRows<double> own(whole);
  const auto result = sinkhorn::transport<double, double>(
      context, own.const_view(), {own.r, whole.c}, {.epsilon = 1, .first_epsilon = 1, .limits = {.tolerance = 1e-12}});
  EXPECT_EQ(result.outcome.status, Status::converged) << result.outcome.reason;
  EXPECT_EQ(result.stages.back().domain, Domain::logarithmic);
  sinkhorn::transport_plan_in_place<double, double>(own.view(), 1, result.f, result.g);
  for (Index i = 0; i < own.rows; ++i) {
    for (Index j = 0; j < n; ++j) {
      const Index row = own.first + i;
      EXPECT_NEAR(own.view()(i, j), j == row ? straight : j == row + 1 ? aside : 0, 1e-10) << row << ", " << j;
    }
  }
  const auto factors =
      transported<double, double>(whole, {.epsilon = 1, .domain = Domain::factors, .first_epsilon = 1});
  EXPECT_EQ(factors.outcome.status, Status::numerical_limit);
}

TEST_F(OptimalTransport, BeginsWithALargeEpsilonWhereThatIsQuicker) {
  const WholeProblem whole = points_problem(40, 40, 5);
  const TransportOptions options{.epsilon = 1e-3, .limits = {.tolerance = 1e-6, .most_iterations = 100'000}};
  const auto scaled = transported<double, double>(whole, options);
  EXPECT_EQ(scaled.outcome.status, Status::converged);
  ASSERT_GE(scaled.stages.size(), 3U);
  EXPECT_EQ(scaled.stages.back().epsilon, 1e-3);
  for (std::size_t k = 1; k < scaled.stages.size(); ++k) {
    EXPECT_LT(scaled.stages[k].epsilon, scaled.stages[k - 1].epsilon);
  }
  TransportOptions at_once = options;
  at_once.first_epsilon = options.epsilon;
  const auto direct = transported<double, double>(whole, at_once);
  EXPECT_EQ(direct.stages.size(), 1U);
  EXPECT_NEAR(direct.cost, scaled.cost, 1e-6);
}

TEST_F(OptimalTransport, NearsTheCheapestMatchingAsEpsilonVanishes) {
  // Five points that move by 0.1 each: the cheapest matching costs 0.01 a unit of mass.
  WholeProblem whole{5, 5, {}, std::vector<double>(5, 0.2), std::vector<double>(5, 0.2)};
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j) whole.entries.push_back((i - j - 0.1) * (i - j - 0.1));
  }
  const auto result = transported<double, double>(whole, {.epsilon = 1e-2});
  EXPECT_EQ(result.outcome.status, Status::converged) << result.outcome.reason;
  EXPECT_NEAR(result.cost, 0.01, 1e-9);
  EXPECT_NEAR(result.gap(), 0, 1e-9);
}

TEST_F(OptimalTransport, KeepsForbiddenEntriesAndEmptyRowsEmpty) {
  WholeProblem whole = points_problem(10, 12, 6);
  whole(3, 4) = infinity;
  whole(0, 0) = infinity;
  whole.r[7] = 0;
  whole.c[2] = 0;
  for (auto* marginals : {&whole.r, &whole.c}) {
    double sum = 0;
    for (const double value : *marginals) sum += value;
    for (double& value : *marginals) value /= sum;
  }
  const auto reference = reference_transport(whole, 0.05, 500);
  for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
    expect_plan<double, double>(whole, {.epsilon = 0.05, .domain = domain, .limits = {.tolerance = 1e-12}}, reference,
                                1e-11);
  }
}

TEST_F(OptimalTransport, BeginsWhereItIsTold) {
  const WholeProblem whole = points_problem(21, 18, 7);
  for (const Domain domain : {Domain::factors, Domain::logarithmic}) {
    TransportOptions options{.epsilon = 0.1, .domain = domain, .first_epsilon = 0.1, .limits = {.tolerance = 1e-10}};
    const auto cold = transported<double, double>(whole, options);
    options.limits.tolerance = 1e-9;
    const auto warm = transported<double, double>(whole, options, cold.g);
    EXPECT_GT(cold.outcome.iterations, 3);
    EXPECT_EQ(warm.outcome.iterations, 1);
  }
}

TEST_F(OptimalTransport, ProvesThatMarginalsAreInfeasible) {
  WholeProblem whole = points_problem(6, 5, 8);
  for (Index j = 1; j < 5; ++j) whole(2, j) = infinity;
  whole.r = {0.1, 0.1, 0.5, 0.1, 0.1, 0.1};
  whole.c = {0.2, 0.2, 0.2, 0.2, 0.2};
  for (const Domain domain : {Domain::automatic, Domain::logarithmic}) {
    const auto result = transported<double, double>(whole, {.epsilon = 0.1, .domain = domain});
    EXPECT_EQ(result.outcome.status, Status::infeasible_marginals);
    EXPECT_THAT(result.outcome.reason, HasSubstr("1 of the rows must sum up to 0.5"));
  }
}

TEST_F(OptimalTransport, SaysThatAnEpsilonIsTooSmallForThePrecision) {
  const WholeProblem whole = random_problem(6, 4, 31);
  const OwnRows<double> own(whole);
  const OwnRows<float> own_floats(whole);
  const auto expect_none = [](const auto& found) {
    EXPECT_EQ(found.outcome.status, Status::numerical_limit) << found.outcome.reason;
    EXPECT_THAT(found.outcome.reason, HasSubstr("a larger epsilon is needed"));
    for (const auto potential : found.g) EXPECT_TRUE(std::isnan(potential));
  };
  for (const double epsilon : {1e-20, 1e-300, 4e-320}) {
    SCOPED_TRACE(epsilon);
    const TransportOptions options{.epsilon = epsilon, .first_epsilon = 4 * epsilon};
    const sinkhorn::Marginals marginals{own.r, whole.c};
    expect_none(sinkhorn::transport<double, double>(context, own.const_view(), marginals, options));
    expect_none(sinkhorn::transport<float, float>(context, own_floats.const_view(), marginals, options));
  }
}

TEST_F(OptimalTransport, TellsAnErrorThatRoundingLeavesFromOneThatFallsSlowly) {
  const WholeProblem whole = random_problem(6, 4, 32);
  const OwnRows<double> own(whole);
  const auto found = sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c},
                                                         {.epsilon = 1e-10, .limits = {.tolerance = 1e-13}});
  EXPECT_EQ(found.outcome.status, Status::numerical_limit) << found.outcome.reason;
  EXPECT_THAT(found.outcome.reason, HasSubstr("which is what rounding leaves of costs that are up to"));
  EXPECT_LT(found.outcome.iterations, 9000);
  EXPECT_LT(found.outcome.error, 0.05);
  // It has no entry that is off by more than that, and is nearly the cheapest one.
  EXPECT_NEAR(found.mass, 1, 0.1);
}

TEST_F(OptimalTransport, HasAResultWhereverCostsAreEqualHoweverSmallEpsilonIs) {
  const WholeProblem whole{3, 3, {0, 0, 0, 0, 0, 0, 0, 0, 0}, {0.25, 0.25, 0.5}, {0.5, 0.25, 0.25}};
  const OwnRows<double> own(whole);
  const auto found =
      sinkhorn::transport<double, double>(context, own.const_view(), {own.r, whole.c}, {.epsilon = 1e-300});
  EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
  EXPECT_NEAR(found.mass, 1, 1e-9);
}

TEST_F(OptimalTransport, RefusesWhatMakesNoSense) {
  const WholeProblem whole = points_problem(6, 5, 9);
  for (const double epsilon : {0.0, -1.0, infinity, std::nan("")}) {
    EXPECT_THAT(message_of<ArgumentError>([&] { return transported<double, double>(whole, {.epsilon = epsilon}); }),
                HasSubstr("expected a finite number > 0"));
  }
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { return transported<double, double>(whole, {.epsilon = 1, .first_epsilon = 0.5}); }),
              HasSubstr("the first epsilon is 0.5, expected a finite number >= 1"));
  EXPECT_THAT(message_of<ArgumentError>([&] { return transported<double, double>(whole, {.epsilon = 1}, {1, 2}); }),
              HasSubstr("potentials for 2 columns, expected 5"));
  WholeProblem wrong = whole;
  wrong(5, 1) = -infinity;
  EXPECT_THAT(message_of<ArgumentError>([&] { return transported<double, double>(wrong, {.epsilon = 1}); }),
              HasSubstr("row 5, column 1 is -inf"));
  WholeProblem barred = whole;
  for (Index j = 0; j < 5; ++j) barred(3, j) = infinity;
  EXPECT_THAT(message_of<ArgumentError>([&] { return transported<double, double>(barred, {.epsilon = 1}); }),
              HasSubstr("row 3 has only costs of +infinity"));
}

}  // namespace
}  // namespace plait::test
