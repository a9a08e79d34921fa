// Several problems with the same costs where these are so many epsilons that no exponentials of them are numbers.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/transport/barycentre.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Barycentre;
using sinkhorn::Domain;
using sinkhorn::Histograms;
using sinkhorn::Marginals;
using sinkhorn::Status;
using sinkhorn::Transport;
using sinkhorn::TransportOptions;
using ::testing::AllOf;
using ::testing::HasSubstr;

long double log_of_sum(const std::vector<long double>& terms) {
  const long double most = *std::ranges::max_element(terms);
  if (std::isinf(most)) return most;
  long double sum = 0;
  for (const long double term : terms) sum += std::exp(term - most);
  return most + std::log(sum);
}

/// Iterative Bregman projections by the textbook, with logarithms in long double.
std::vector<long double> reference_barycentre_by_logarithms(const WholeProblem& costs,
                                                            const std::vector<std::vector<double>>& masses,
                                                            const std::vector<double>& weights, double epsilon,
                                                            Index iterations) {
  const auto m = static_cast<std::size_t>(costs.rows);
  const auto n = static_cast<std::size_t>(costs.columns);
  std::vector<std::vector<long double>> f(masses.size(), std::vector<long double>(m, 0));
  std::vector<long double> mean(m);
  const auto exponent = [&](std::size_t i, std::size_t j) {
    return -static_cast<long double>(costs.entries[i * n + j]) / epsilon;
  };
  for (Index iteration = 0; iteration < iterations; ++iteration) {
    std::vector<std::vector<long double>> sums(masses.size(), std::vector<long double>(m));
    for (std::size_t k = 0; k < masses.size(); ++k) {
      std::vector<long double> g(n);
      for (std::size_t j = 0; j < n; ++j) {
        std::vector<long double> terms;
        for (std::size_t i = 0; i < m; ++i) terms.push_back(exponent(i, j) + f[k][i]);
        g[j] = masses[k][j] == 0 ? -infinity : std::log(static_cast<long double>(masses[k][j])) - log_of_sum(terms);
      }
      for (std::size_t i = 0; i < m; ++i) {
        std::vector<long double> terms;
        for (std::size_t j = 0; j < n; ++j) terms.push_back(exponent(i, j) + g[j]);
        sums[k][i] = log_of_sum(terms);
      }
    }
    for (std::size_t i = 0; i < m; ++i) {
      mean[i] = 0;
      for (std::size_t k = 0; k < masses.size(); ++k) mean[i] += weights[k] * sums[k][i];
      for (std::size_t k = 0; k < masses.size(); ++k) f[k][i] = mean[i] - sums[k][i];
    }
  }
  for (long double& mass : mean) mass = std::exp(mass);
  return mean;
}

struct SmallEpsilon : ::testing::Test {
  mpi::Context context{test_comm()};
  std::vector<std::vector<double>> masses;  // of histograms
  std::vector<double> weights{0.2, 0.5, 0.3};

  void SetUp() override {
    for (std::uint64_t k = 0; k < 3; ++k) masses.push_back(random_problem(8, 8, 30 + k).c);
    const double left = 1 - masses[1][4];
    masses[1][4] = 0;
    for (double& mass : masses[1]) mass /= left;
  }

  [[nodiscard]] Histograms histograms() const {
    Histograms all{{}, weights};
    for (const auto& histogram : masses) all.masses.emplace_back(histogram);
    return all;
  }

  template <class T>
  [[nodiscard]] Barycentre found(const WholeProblem& costs, const TransportOptions& options) {
    const OwnRows<T> own(costs);
    return sinkhorn::barycentre<T>(context, own.const_view(), histograms(), options);
  }

  void expect_masses(const WholeProblem& costs, const Barycentre& found, const std::vector<long double>& expected,
                     double accuracy) {
    EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
    const OwnRows<double> own(costs);
    for (Index i = 0; i < own.rows; ++i) {
      EXPECT_NEAR(found.masses[static_cast<std::size_t>(i)],
                  static_cast<double>(expected[static_cast<std::size_t>(own.first + i)]), accuracy);
    }
  }
};

TEST_F(SmallEpsilon, HasTheBarycentresOfTheReference) {
  const auto x = points(7, 1);
  const auto y = points(8, 2);
  WholeProblem costs = costs_of(x, y);
  constexpr double epsilon = 1e-3;
  const auto reference = reference_barycentre_by_logarithms(costs, masses, weights, epsilon, 3000);
  TransportOptions options{.epsilon = epsilon};
  options.limits.tolerance = 1e-9;
  const Barycentre automatic = found<double>(costs, options);
  expect_masses(costs, automatic, reference, 1e-6);
  EXPECT_EQ(automatic.stages.back().domain, Domain::logarithmic);
  EXPECT_GT(automatic.stages.size(), 2U);

  OwnRows<double> own({7, 1, x, {}, {}});
  const sinkhorn::PointClouds<double> clouds{own.const_view(), {y.data(), 8, 1, 1, StorageOrder::row_major}};
  const Barycentre made = sinkhorn::barycentre(context, clouds, histograms(), options);
  expect_masses(costs, made, reference, 1e-6);
  for (std::size_t k = 0; k < masses.size(); ++k) EXPECT_NEAR(made.costs[k], automatic.costs[k], 1e-7);

  // Numbers that are added to all costs change nothing, though none of their exponentials is a number.
  for (double& cost : costs.entries) cost -= 3;
  options.first_epsilon = epsilon;
  expect_masses(costs, found<double>(costs, options), reference, 1e-6);
  options.limits.tolerance = 1e-4;
  expect_masses(costs, found<float>(costs_of(x, y), options), reference, 1e-2);
}

TEST_F(SmallEpsilon, HasNoBarycentreByFactorsAndNoneOfWhatIsOutOfReach) {
  WholeProblem costs = costs_of(points(7, 1), points(8, 2));
  const Barycentre factors = found<double>(costs, {.epsilon = 1e-5, .domain = Domain::factors});
  EXPECT_EQ(factors.outcome.status, Status::numerical_limit);
  EXPECT_THAT(factors.outcome.reason, HasSubstr("of the largest cost"));
  for (const double mass : factors.masses) EXPECT_TRUE(std::isnan(mass));
  // Column 4 is reached by the first three rows, which is all that it reaches; histogram 1 has nothing else there.
  for (Index i = 0; i < 7; ++i) {
    for (Index j = 0; j < 8; ++j) {
      if ((i < 3) != (j == 4)) costs(i, j) = infinity;
    }
  }
  for (const double epsilon : {1e-3, 0.1}) {
    const Barycentre none = found<double>(costs, {.epsilon = epsilon});
    EXPECT_EQ(none.outcome.status, Status::infeasible_marginals);
    EXPECT_THAT(none.outcome.reason, HasSubstr("histogram 0 has mass in column 4, which none of the rows reaches"));
  }
}

struct SmallEpsilonBatch : ::testing::Test {
  mpi::Context context{test_comm()};
  std::vector<double> x = points(13, 41);
  std::vector<double> y = points(10, 42);
  WholeProblem costs = costs_of(x, y);
  std::vector<WholeProblem> problems;

  void SetUp() override {
    for (std::uint64_t k = 0; k < 3; ++k) problems.push_back(random_problem(13, 10, 50 + k));
    problems[1].r[2] = 0;
    problems[1].c[3] = 0;
    double left = 0;
    for (const double mass : problems[1].r) left += mass;
    for (double& mass : problems[1].r) mass /= left;
    left = 0;
    for (const double mass : problems[1].c) left += mass;
    for (double& mass : problems[1].c) mass /= left;
  }

  /// This rank's marginals of all problems, valid as long as `own`.
  template <class T>
  [[nodiscard]] std::vector<Marginals> marginals(const std::vector<OwnRows<T>>& own) const {
    std::vector<Marginals> all;
    for (std::size_t k = 0; k < own.size(); ++k) all.push_back({own[k].r, problems[k].c});
    return all;
  }

  /// \param accuracy  of potentials and of costs; 0: they have the same bits
  template <class A>
  void expect_alike(const Transport<A>& found, const Transport<A>& alone, double accuracy) {
    const auto are_near = [accuracy](double a, double b) { return a == b || std::abs(a - b) <= accuracy; };
    EXPECT_EQ(found.outcome.status, alone.outcome.status) << found.outcome.reason;
    EXPECT_EQ(found.outcome.iterations, alone.outcome.iterations);
    EXPECT_EQ(found.stages.size(), alone.stages.size());
    EXPECT_TRUE(std::ranges::equal(found.f, alone.f, are_near));
    EXPECT_TRUE(std::ranges::equal(found.g, alone.g, are_near));
    EXPECT_PRED2(are_near, found.cost, alone.cost);
  }

  template <class T, class A>
  void expect_each_alone(const TransportOptions& options, double accuracy) {
    std::vector<OwnRows<T>> own;
    for (const WholeProblem& problem : problems) own.emplace_back(problem);
    const auto all = marginals(own);
    const OwnRows<T> matrix(costs);
    const auto found = sinkhorn::transport_batch<T, A>(context, matrix.const_view(), all, options);
    for (std::size_t k = 0; k < all.size(); ++k) {
      SCOPED_TRACE(k);
      EXPECT_EQ(found[k].stages.back().domain, Domain::logarithmic);
      expect_alike(found[k], sinkhorn::transport<T, A>(context, matrix.const_view(), all[k], options), accuracy);
    }
  }
};

TEST_F(SmallEpsilonBatch, IsWhatEachTransportAloneIs) {
  const TransportOptions small{.epsilon = 1e-4, .limits = {.tolerance = 1e-4, .most_iterations = 40}};
  // The first stages are by factors: of several problems beside another matrix than that of one.
  expect_each_alone<double, double>(small, 1e-11);
  expect_each_alone<float, double>(small, 1e-11);
  expect_each_alone<float, float>({.epsilon = 1e-3, .limits = {.tolerance = 1e-3, .most_iterations = 40}}, 1e-5);
  expect_each_alone<double, double>(
      {.epsilon = 1e-4, .limits = {.tolerance = 1e-6, .most_iterations = 40}, .rho = {0.1, infinity}}, 1e-13);
  expect_each_alone<double, double>({.epsilon = 0.05, .domain = Domain::logarithmic, .limits = {.tolerance = 1e-6}}, 0);
  const TransportOptions by_logarithms{
      .epsilon = 1e-4, .domain = Domain::logarithmic, .limits = {.tolerance = 1e-6, .most_iterations = 40}};
  expect_each_alone<double, double>(by_logarithms, 0);
}

TEST_F(SmallEpsilonBatch, HasAStatusForEachProblem) {
  // Row 5 reaches column 3 only, which has no mass in the first problem; in the second one the row has none.
  for (Index j = 0; j < 10; ++j) {
    if (j != 3) costs(5, j) = infinity;
  }
  problems[0].c[0] += problems[0].c[3];
  problems[0].c[3] = 0;
  problems[1].r[4] += problems[1].r[5];
  problems[1].r[5] = 0;
  std::vector<OwnRows<double>> own;
  for (const WholeProblem& problem : problems) own.emplace_back(problem);
  const OwnRows<double> matrix(costs);
  const auto found = sinkhorn::transport_batch<double, double>(context, matrix.const_view(), marginals(own),
                                                               {.epsilon = 1e-4, .limits = {.tolerance = 1e-3}});
  EXPECT_EQ(found[0].outcome.status, Status::infeasible_marginals) << found[0].outcome.reason;
  EXPECT_EQ(found[1].outcome.status, Status::converged) << found[1].outcome.reason;
}

TEST_F(SmallEpsilonBatch, BetweenPointsIsWhatEachTransportAloneIs) {
  const OwnRows<double> of_x({13, 1, x, {}, {}});
  const sinkhorn::PointClouds<double> clouds{of_x.const_view(), {y.data(), 10, 1, 1, StorageOrder::row_major}};
  std::vector<OwnRows<double>> own;
  for (const WholeProblem& problem : problems) own.emplace_back(problem);
  auto all = marginals(own);
  for (const double rho : {infinity, 0.3}) {
    const TransportOptions options{
        .epsilon = 1e-4, .limits = {.tolerance = 1e-5, .most_iterations = 40}, .rho = {rho, rho}};
    const auto found = sinkhorn::transport_batch<double>(context, clouds, all, options);
    for (std::size_t k = 0; k < all.size(); ++k) {
      SCOPED_TRACE(k);
      expect_alike(found[k], sinkhorn::transport<double>(context, clouds, all[k], options), 0);
    }
  }
  all[2].columns = std::span(problems[2].c).first(9);
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { return sinkhorn::transport_batch<double>(context, clouds, all, {.epsilon = 1}); }),
              AllOf(HasSubstr("marginals 2: "), HasSubstr("marginals of 9 columns are given, expected 10")));
}

}  // namespace
}  // namespace plait::test
