// Barycentres of several histograms.
#include "plait/sinkhorn/transport/barycentre.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Barycentre;
using sinkhorn::Domain;
using sinkhorn::Histograms;
using sinkhorn::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The textbook's iterative Bregman projections, in long double.
std::vector<long double> reference_barycentre(const WholeProblem& costs, const std::vector<std::vector<double>>& masses,
                                              const std::vector<double>& weights, double epsilon, Index iterations) {
  const auto m = static_cast<std::size_t>(costs.rows);
  const auto n = static_cast<std::size_t>(costs.columns);
  std::vector<std::vector<long double>> u(masses.size(), std::vector<long double>(m, 1));
  std::vector<long double> mean(m);
  std::vector<long double> kernel;
  for (const double cost : costs.entries) kernel.push_back(std::exp(-static_cast<long double>(cost) / epsilon));
  for (Index iteration = 0; iteration < iterations; ++iteration) {
    std::vector<std::vector<long double>> sums(masses.size(), std::vector<long double>(m, 0));
    for (std::size_t k = 0; k < masses.size(); ++k) {
      for (std::size_t j = 0; j < n; ++j) {
        long double sum = 0;
        for (std::size_t i = 0; i < m; ++i) sum += kernel[i * n + j] * u[k][i];
        const long double v = masses[k][j] / sum;
        for (std::size_t i = 0; i < m; ++i) sums[k][i] += kernel[i * n + j] * v;
      }
    }
    for (std::size_t i = 0; i < m; ++i) {
      mean[i] = 1;
      for (std::size_t k = 0; k < masses.size(); ++k) {
        mean[i] *= std::pow(sums[k][i], static_cast<long double>(weights[k]));
      }
      for (std::size_t k = 0; k < masses.size(); ++k) u[k][i] = mean[i] / sums[k][i];
    }
  }
  return mean;
}

struct Barycentres : ::testing::Test {
  mpi::Context context{test_comm()};

  template <class T>
  void expect_reference(const WholeProblem& costs, const std::vector<std::vector<double>>& masses,
                        const std::vector<double>& weights, double epsilon, double accuracy,
                        Domain domain = Domain::automatic) {
    const OwnRows<T> own(costs);
    Histograms histograms{{}, weights};
    for (const auto& histogram : masses) histograms.masses.emplace_back(histogram);
    sinkhorn::TransportOptions options{.epsilon = epsilon, .domain = domain};
    options.limits.tolerance = 1e-13;
    const Barycentre found = sinkhorn::barycentre<T>(context, own.const_view(), histograms, options);
    EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
    const std::vector<double> even(masses.size(), 1 / static_cast<double>(masses.size()));
    const auto reference = reference_barycentre(costs, masses, weights.empty() ? even : weights, epsilon, 1500);
    for (Index i = 0; i < own.rows; ++i) {
      EXPECT_NEAR(found.masses[static_cast<std::size_t>(i)],
                  static_cast<double>(reference[static_cast<std::size_t>(own.first + i)]), accuracy);
    }
  }
};

TEST_F(Barycentres, AreThoseOfTheReference) {
  const auto x = points(9, 1);
  const auto y = points(14, 2);
  std::vector<std::vector<double>> masses;
  for (std::uint64_t k = 0; k < 3; ++k) masses.push_back(random_problem(14, 14, 30 + k).c);
  masses[1][4] = 0;
  double left = 0;
  for (const double mass : masses[1]) left += mass;
  for (double& mass : masses[1]) mass /= left;
  expect_reference<double>(costs_of(x, y), masses, {0.2, 0.5, 0.3}, 0.05, 1e-11);
  expect_reference<double>(costs_of(x, y), masses, {}, 0.2, 1e-11);
  expect_reference<float>(costs_of(x, y), masses, {}, 0.2, 1e-6);
  expect_reference<double>(costs_of({0.3}, y), masses, {}, 0.2, 1e-11);
  for (const double epsilon : {0.05, 0.2}) {
    expect_reference<double>(costs_of(x, y), masses, {0.2, 0.5, 0.3}, epsilon, 1e-11, Domain::logarithmic);
  }
  masses.resize(1);
  expect_reference<double>(costs_of(x, y), masses, {1.0}, 0.1, 1e-11);
  expect_reference<double>(costs_of(x, y), masses, {1.0}, 0.1, 1e-11, Domain::logarithmic);
}

TEST_F(Barycentres, OfTwoHeapsLieHalfWayBetween) {
  std::vector<double> grid;
  for (int i = 0; i <= 40; ++i) grid.push_back(i / 40.0);
  const auto heap = [&](double middle) {
    std::vector<double> masses;
    double sum = 0;
    for (const double x : grid) {
      masses.push_back(std::exp(-(x - middle) * (x - middle) / 0.005));
      sum += masses.back();
    }
    for (double& mass : masses) mass /= sum;
    return masses;
  };
  const auto left = heap(0.2);
  const auto right = heap(0.6);
  const std::vector<double> weights{0.25, 0.75};
  const OwnRows<double> own(costs_of(grid, grid));
  const Barycentre found =
      sinkhorn::barycentre<double>(context, own.const_view(), {{left, right}, weights}, {.epsilon = 4e-3});
  EXPECT_EQ(found.outcome.status, Status::converged) << found.outcome.reason;
  double moments[2] = {0, 0};
  for (Index i = 0; i < own.rows; ++i) {
    const double mass = found.masses[static_cast<std::size_t>(i)];
    moments[0] += mass;
    moments[1] += mass * grid[static_cast<std::size_t>(own.first + i)];
  }
  MPI_Allreduce(MPI_IN_PLACE, moments, 2, MPI_DOUBLE, MPI_SUM, test_comm());
  EXPECT_NEAR(moments[0], 1, 1e-8);
  EXPECT_NEAR(moments[1], 0.25 * 0.2 + 0.75 * 0.6, 1e-3);
  // What moves by 0.3 and by 0.1 costs 0.09 and 0.01, and what the entropy adds.
  EXPECT_NEAR(found.costs[0] - found.costs[1], 0.08, 2e-3);
}

TEST_F(Barycentres, RefuseWhatMakesNoSense) {
  const WholeProblem costs = costs_of(points(4, 3), points(5, 4));
  const OwnRows<double> own(costs);
  const std::vector<double> even(5, 0.2);
  const auto with = [&](const Histograms& histograms, double epsilon) {
    return [this, &own, histograms, epsilon] {
      static_cast<void>(sinkhorn::barycentre<double>(context, own.const_view(), histograms, {.epsilon = epsilon}));
    };
  };
  const std::vector<double> short_one(4, 0.25);
  const std::vector<double> heavy(5, 0.3);
  const std::vector<double> negative{0.5, 0.5, 0.5, -0.5, 0};
  const std::vector<double> weights{0.5, 0.6};
  EXPECT_THAT(message_of<ArgumentError>(with({}, 1)), HasSubstr("no histograms are given"));
  EXPECT_THAT(message_of<ArgumentError>(with({{even, short_one}}, 1)),
              HasSubstr("histogram 1 has 4 masses, expected 5"));
  EXPECT_THAT(message_of<ArgumentError>(with({{even, heavy}}, 1)), HasSubstr("histogram 1 has the mass 1.5 in all"));
  EXPECT_THAT(message_of<ArgumentError>(with({{even, negative}}, 1)), HasSubstr("the mass 3 of histogram 1 is -0.5"));
  EXPECT_THAT(message_of<ArgumentError>(with({{even, even}, weights}, 1)),
              HasSubstr("the weights add up to 1.1, expected 1"));
  EXPECT_THAT(message_of<ArgumentError>(with({{even}}, 0)), HasSubstr("epsilon is 0, expected"));
  const Barycentre found =
      sinkhorn::barycentre<double>(context, own.const_view(), {{even}}, {.epsilon = 1e-6, .domain = Domain::factors});
  EXPECT_EQ(found.outcome.status, Status::numerical_limit);
  EXPECT_THAT(found.outcome.reason, HasSubstr("0.002 of the largest cost"));
}

TEST_F(Barycentres, GoOnWithTheSameBitsFromAnyState) {
  const WholeProblem costs = costs_of(points(9, 1), points(14, 2));
  const OwnRows<double> own(costs);
  const std::vector<double> left = random_problem(14, 14, 31).c;
  const std::vector<double> right = random_problem(14, 14, 32).c;
  const Histograms histograms{{left, right}};
  for (const auto& [epsilon, domain] : {std::pair(0.1, Domain::factors), std::pair(0.02, Domain::logarithmic)}) {
    sinkhorn::TransportOptions options{.epsilon = epsilon, .domain = domain, .first_epsilon = 16 * epsilon};
    options.limits.tolerance = 1e-10;
    std::vector<iterate::Checkpoint> states;
    options.limits.checkpoints.is_due = [](Index iterations) { return iterations % 2 == 0; };
    options.limits.checkpoints.keep = [&](const iterate::Checkpoint& state) { states.push_back(state); };
    const auto expected = sinkhorn::barycentre<double>(context, own.const_view(), histograms, options);
    ASSERT_GT(states.size(), 2U);
    const auto kept = std::move(states);
    options.limits.checkpoints.keep = {};
    for (const iterate::Checkpoint& state : kept) {
      SCOPED_TRACE(state.numbers.at("epsilon"));
      options.limits.checkpoints.from = &state;
      const auto resumed = sinkhorn::barycentre<double>(context, own.const_view(), histograms, options);
      EXPECT_EQ(resumed.masses, expected.masses);
      EXPECT_EQ(resumed.costs, expected.costs);
      EXPECT_EQ(resumed.outcome.errors, expected.outcome.errors);
      EXPECT_EQ(resumed.stages.size(), expected.stages.size());
    }
    options.epsilon *= 100;
    options.first_epsilon = 0;
    EXPECT_THAT(message_of<ArgumentError>([&] {
                  options.limits.checkpoints.from = &kept.back();
                  static_cast<void>(sinkhorn::barycentre<double>(context, own.const_view(), histograms, options));
                }),
                HasSubstr("the state has come to epsilon"));
  }
}

}  // namespace
}  // namespace plait::test
