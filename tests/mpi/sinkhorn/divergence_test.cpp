// Debiased divergences, which are made of three transports.
#include "plait/sinkhorn/transport/divergence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Its value and gradients by the library; r and c are those of all points.
struct Divergences : ::testing::Test {
  mpi::Context context{test_comm()};

  sinkhorn::Divergence<double> divergence(const std::vector<double>& x, const std::vector<double>& r,
                                          const std::vector<double>& y, const std::vector<double>& c,
                                          sinkhorn::TransportOptions options = {.epsilon = 0.1}) {
    WholeProblem between = costs_of(x, y);
    between.r = r;
    const OwnRows<double> own(between);
    const OwnRows<double> rows(costs_of(x, x));
    const OwnRows<double> columns(costs_of(y, y));
    options.limits = {.tolerance = 1e-12};
    return sinkhorn::divergence<double, double>(context, {own.const_view(), rows.const_view(), columns.const_view()},
                                                {own.r, c}, options);
  }
};

/// The least Σ C P + epsilon Σ P (log P - 1), by the textbook in long double.
long double reference_value(const std::vector<double>& x, const std::vector<double>& r, const std::vector<double>& y,
                            const std::vector<double>& c, double epsilon) {
  WholeProblem whole = costs_of(x, y);
  const std::vector<double> costs = whole.entries;
  for (double& entry : whole.entries) entry = std::exp(-entry / epsilon);
  whole.r = r;
  whole.c = c;
  const auto plan = reference_plan(whole, 1500);
  long double value = 0;
  for (std::size_t k = 0; k < plan.size(); ++k) {
    if (plan[k] > 0) value += costs[k] * plan[k] + epsilon * plan[k] * (std::log(plan[k]) - 1);
  }
  return value;
}

TEST_F(Divergences, AreThoseOfThreeTransportsOfTheReference) {
  const auto x = points(11, 5);
  const auto y = points(7, 6);
  const auto r = random_problem(11, 7, 7).r;
  const auto c = random_problem(11, 7, 8).c;
  const auto expected =
      reference_value(x, r, y, c, 0.1) - reference_value(x, r, x, r, 0.1) / 2 - reference_value(y, c, y, c, 0.1) / 2;
  for (const auto domain : {sinkhorn::Domain::factors, sinkhorn::Domain::logarithmic}) {
    const auto found = divergence(x, r, y, c, {.epsilon = 0.1, .domain = domain});
    EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
    EXPECT_NEAR(found.value, static_cast<double>(expected), 1e-11);
    EXPECT_GT(found.value, 0);
  }
}

TEST_F(Divergences, VanishForEqualMassesAtEqualPoints) {
  const auto x = points(12, 9);
  const auto r = random_problem(12, 3, 10).r;
  for (const double epsilon : {0.3, 1e-2, 1e-3, 1e-4}) {
    const auto found = divergence(x, r, x, r, {.epsilon = epsilon});
    EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
    EXPECT_LE(std::abs(found.value), found.rounding);
    Index iterations = 0;
    for (const auto& transport : found.stages) {
      for (const auto& stage : transport) iterations += stage.iterations;
    }
    EXPECT_LE(iterations, 2 * 50) << "for epsilon " << epsilon;  // of rows, and of columns
    for (const double change : found.row_gradient) EXPECT_NEAR(change, found.row_gradient.front(), 1e-8);
  }
}

TEST_F(Divergences, HaveTheGradientsThatDifferencesHave) {
  const auto x = points(6, 11);
  const auto y = points(8, 12);
  const auto r = random_problem(6, 8, 13).r;
  const auto c = random_problem(6, 8, 14).c;
  const auto found = divergence(x, r, y, c, {.epsilon = 0.5});
  constexpr double h = 1e-4;
  const auto moved = [](std::vector<double> masses, double by) {
    masses[1] += by;
    masses[4] -= by;
    return masses;
  };
  std::vector<double> of_rows(6, 0);
  const Index first = OwnRows<double>(costs_of(x, y)).first;
  std::ranges::copy(found.row_gradient, of_rows.begin() + first);
  MPI_Allreduce(MPI_IN_PLACE, of_rows.data(), 6, MPI_DOUBLE, MPI_SUM, test_comm());
  const double by_rows = divergence(x, moved(r, h), y, c, {.epsilon = 0.5}).value -
                         divergence(x, moved(r, -h), y, c, {.epsilon = 0.5}).value;
  EXPECT_NEAR(of_rows[1] - of_rows[4], by_rows / (2 * h), 1e-6);
  const double by_columns = divergence(x, r, y, moved(c, h), {.epsilon = 0.5}).value -
                            divergence(x, r, y, moved(c, -h), {.epsilon = 0.5}).value;
  EXPECT_NEAR(found.column_gradient[1] - found.column_gradient[4], by_columns / (2 * h), 1e-6);
}

TEST_F(Divergences, RefuseCostsThatDoNotFit) {
  const auto x = points(6, 15);
  const auto y = points(5, 16);
  const OwnRows<double> between(costs_of(x, y));
  const OwnRows<double> rows(costs_of(x, x));
  EXPECT_THAT(message_of<ArgumentError>([&] {
                return sinkhorn::divergence<double, double>(
                    context, {between.const_view(), rows.const_view(), rows.const_view()}, {}, {.epsilon = 1});
              }),
              HasSubstr("the costs among the columns are 6 x 6, expected 5 x 5"));
  const std::vector<double> sixth(6, 1.0 / 6);
  EXPECT_THAT(message_of<ArgumentError>([&] { return divergence(x, sixth, x, sixth, {.epsilon = 1, .rho = {1, 2}}); }),
              HasSubstr("rho of the rows is 1, that of the columns 2, expected one"));
  EXPECT_THAT(
      message_of<ArgumentError>([&] { return divergence(x, sixth, x, sixth, {.epsilon = 1, .rho = {1e-3, 1e-3}}); }),
      HasSubstr("of row 0 to the power 1 + epsilon / rho leaves the range"));
  WholeProblem skew = costs_of(x, x);
  skew(4, 1) += 0.5;
  const OwnRows<double> wrong(skew);
  EXPECT_THAT(message_of<ArgumentError>([&] {
                return sinkhorn::divergence<double, double>(
                    context, {rows.const_view(), wrong.const_view(), rows.const_view()}, {}, {.epsilon = 1});
              }),
              AllOf(HasSubstr("the costs among the rows: "), HasSubstr("row 1, column 4 is"),
                    HasSubstr("expected a symmetric matrix")));
}

/// The least of what unbalanced transport minimises with KL(P | r c'), by fixed points in long double.
long double unbalanced_value(const std::vector<double>& x, const std::vector<double>& r, const std::vector<double>& y,
                             const std::vector<double>& c, long double epsilon, long double rho) {
  std::vector<long double> f(x.size(), 0);
  std::vector<long double> g(y.size(), 0);
  const auto cost = [&](std::size_t i, std::size_t j) {
    return (static_cast<long double>(x[i]) - y[j]) * (static_cast<long double>(x[i]) - y[j]);
  };
  for (int k = 0; k < 400; ++k) {
    for (std::size_t i = 0; i < f.size(); ++i) {
      long double sum = 0;
      for (std::size_t j = 0; j < g.size(); ++j) sum += c[j] * std::exp((g[j] - cost(i, j)) / epsilon);
      f[i] = -rho / (rho + epsilon) * epsilon * std::log(sum);
    }
    for (std::size_t j = 0; j < g.size(); ++j) {
      long double sum = 0;
      for (std::size_t i = 0; i < f.size(); ++i) sum += r[i] * std::exp((f[i] - cost(i, j)) / epsilon);
      g[j] = -rho / (rho + epsilon) * epsilon * std::log(sum);
    }
  }
  const auto divergence = [](long double p, long double q) { return p * std::log(p / q) - p + q; };
  long double value = 0;
  std::vector<long double> columns(g.size(), 0);
  for (std::size_t i = 0; i < f.size(); ++i) {
    long double row = 0;
    for (std::size_t j = 0; j < g.size(); ++j) {
      const long double entry = r[i] * c[j] * std::exp((f[i] + g[j] - cost(i, j)) / epsilon);
      value += cost(i, j) * entry + epsilon * divergence(entry, static_cast<long double>(r[i]) * c[j]);
      row += entry;
      columns[j] += entry;
    }
    value += rho * divergence(row, r[i]);
  }
  for (std::size_t j = 0; j < g.size(); ++j) value += rho * divergence(columns[j], c[j]);
  return value;
}

TEST_F(Divergences, MayBeOfMassesThatNeedNotHaveOneTotal) {
  const auto x = points(7, 21);
  const auto y = points(5, 22);
  const auto r = random_problem(7, 5, 23).r;
  auto c = random_problem(7, 5, 24).c;
  for (double& mass : c) mass *= 1.6;
  constexpr double epsilon = 0.1;
  constexpr double rho = 0.4;
  const auto expected = [&](const std::vector<double>& of_rows, const std::vector<double>& of_columns) {
    const auto value = [&](const auto& a, const auto& p, const auto& b, const auto& q) {
      return unbalanced_value(a, p, b, q, epsilon, rho);
    };
    const auto total = [](const std::vector<double>& masses) {
      return std::accumulate(masses.begin(), masses.end(), 0.0L);
    };
    const long double excess = total(of_rows) - total(of_columns);
    return value(x, of_rows, y, of_columns) - value(x, of_rows, x, of_rows) / 2 -
           value(y, of_columns, y, of_columns) / 2 + epsilon / 2 * excess * excess;
  };
  const sinkhorn::TransportOptions options{.epsilon = epsilon, .rho = {rho, rho}};
  const auto found = divergence(x, r, y, c, options);
  EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
  EXPECT_NEAR(found.value, static_cast<double>(expected(r, c)), 1e-11);
  EXPECT_NEAR(found.gap, 0, 1e-10);
  EXPECT_NEAR(divergence(x, r, x, r, options).value, 0, 1e-12);
  constexpr double h = 1e-4;
  const auto with = [](std::vector<double> masses, double by) {
    masses[2] += by;
    return masses;
  };
  std::vector<double> of_rows(7, 0);
  std::ranges::copy(found.row_gradient, of_rows.begin() + OwnRows<double>(costs_of(x, y)).first);
  MPI_Allreduce(MPI_IN_PLACE, of_rows.data(), 7, MPI_DOUBLE, MPI_SUM, test_comm());
  EXPECT_NEAR(of_rows[2], static_cast<double>(expected(with(r, h), c) - expected(with(r, -h), c)) / (2 * h), 1e-6);
  EXPECT_NEAR(found.column_gradient[2],
              static_cast<double>(expected(r, with(c, h)) - expected(r, with(c, -h))) / (2 * h), 1e-6);
}

TEST_F(Divergences, BetweenPointsAreThoseOfTheirCosts) {
  const auto x = points(9, 31);
  const auto y = points(4, 32);
  const auto r = random_problem(9, 4, 33).r;
  const auto c = random_problem(9, 4, 34).c;
  WholeProblem column{9, 1, x, r, {}};
  const OwnRows<double> own(column);
  const sinkhorn::PointClouds<double> clouds{own.const_view(), {y.data(), 4, 1, 1, StorageOrder::row_major}};
  for (const double rho : {std::numeric_limits<double>::infinity(), 0.5}) {
    const sinkhorn::TransportOptions options{.epsilon = 0.1, .limits = {.tolerance = 1e-12}, .rho = {rho, rho}};
    const auto stored = divergence(x, r, y, c, options);
    const auto made = sinkhorn::divergence<double>(context, clouds, {own.r, c}, options);
    EXPECT_EQ(made.outcome.status, Status::converged) << made.outcome.reason;
    EXPECT_NEAR(made.value, stored.value, 1e-12);
    for (std::size_t j = 0; j < c.size(); ++j) EXPECT_NEAR(made.column_gradient[j], stored.column_gradient[j], 1e-9);
  }
}

}  // namespace
}  // namespace plait::test
