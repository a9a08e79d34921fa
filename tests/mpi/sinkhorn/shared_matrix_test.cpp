// Several problems that share a matrix, or are made of several transports: batches, barycentres, divergences.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/transport/barycentre.hpp"
#include "plait/sinkhorn/transport/divergence.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "mpi/sinkhorn/problem.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using sinkhorn::Barycentre;
using sinkhorn::Domain;
using sinkhorn::Histograms;
using sinkhorn::Limits;
using sinkhorn::Marginals;
using sinkhorn::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Batch : ::testing::Test {
  mpi::Context context{test_comm()};

  /// Problems of one matrix: marginals of others with the same shape.
  template <class T, class A>
  void expect_what_each_alone_is(Index rows, Index columns, std::size_t count, const Limits& limits, double accuracy) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", " + std::to_string(count));
    WholeProblem whole = random_problem(rows, columns, 1);
    std::vector<WholeProblem> problems;
    std::vector<OwnRows<T>> own;
    std::vector<Marginals> marginals;
    for (std::size_t k = 0; k < count; ++k) {
      problems.push_back(random_problem(rows, columns, 10 + k));
      problems.back().entries = whole.entries;
      own.emplace_back(problems.back());
    }
    for (std::size_t k = 0; k < count; ++k) marginals.push_back({own[k].r, problems[k].c});
    const OwnRows<T> matrix(whole);
    const auto found = sinkhorn::scale_batch<T, A>(context, matrix.const_view(), marginals, limits);
    ASSERT_EQ(found.size(), count);
    for (std::size_t k = 0; k < count; ++k) {
      EXPECT_EQ(found[k].outcome.status, Status::converged) << found[k].outcome.reason;
      const std::vector<long double> reference = reference_plan(problems[k], 200);
      for (Index i = 0; i < matrix.rows; ++i) {
        for (Index j = 0; j < columns; ++j) {
          const double entry = static_cast<double>(found[k].u[static_cast<std::size_t>(i)]) *
                               simd::widened<double>(matrix.const_view()(i, j)) *
                               static_cast<double>(found[k].v[static_cast<std::size_t>(j)]);
          EXPECT_NEAR(entry, static_cast<double>(reference[static_cast<std::size_t>((matrix.first + i) * columns + j)]),
                      accuracy);
        }
      }
      const auto alone = sinkhorn::scale<T, A>(context, matrix.const_view(), marginals[k], limits);
      EXPECT_EQ(found[k].outcome.iterations, alone.outcome.iterations);
    }
  }
};

TEST_F(Batch, FindsWhatEachProblemAloneIs) {
  for (const std::size_t count : {0U, 1U, 5U}) {
    expect_what_each_alone_is<double, double>(13, 40, count, {.tolerance = 1e-13}, 1e-13);
  }
  expect_what_each_alone_is<double, double>(1, 5, 2, {.tolerance = 1e-13}, 1e-13);
  expect_what_each_alone_is<double, double>(6, 1, 2, {.tolerance = 1e-13}, 1e-13);
  expect_what_each_alone_is<float, double>(20, 30, 4, {.tolerance = 1e-12}, 1e-8);
  expect_what_each_alone_is<float, float>(20, 30, 4, {.tolerance = 2e-6}, 1e-6);
}

TEST_F(Batch, EndsEachProblemInItsOwnWay) {
  // Row 3 has one entry, in column 0.
  WholeProblem whole = random_problem(5, 4, 2);
  for (Index j = 1; j < 4; ++j) whole(3, j) = 0;
  std::vector<double> easy(5, 0.2);
  std::vector<double> infeasible{0.1, 0.1, 0.1, 0.6, 0.1};
  std::vector<double> tight{0.2, 0.2, 0.2, 0.25, 0.15};  // all of column 0
  const std::vector<double> columns(4, 0.25);
  const OwnRows<double> own(whole);
  const auto part = [&](const std::vector<double>& all) {
    return std::span<const double>(all).subspan(static_cast<std::size_t>(own.first),
                                                static_cast<std::size_t>(own.rows));
  };
  const std::vector<Marginals> marginals{
      {part(easy), columns}, {part(infeasible), columns}, {part(tight), columns}, {part(easy), columns}};
  Index heard = 0;
  const auto found = sinkhorn::scale_batch<double, double>(
      context, own.const_view(), marginals,
      {.tolerance = 1e-9, .most_iterations = 25, .listener = [&heard](Index iteration, double) { heard = iteration; }});
  EXPECT_EQ(found[0].outcome.status, Status::converged);
  EXPECT_EQ(found[0].u, found[3].u);
  EXPECT_EQ(found[1].outcome.status, Status::infeasible_marginals);
  EXPECT_THAT(found[1].outcome.reason, HasSubstr("1 of the rows must sum up to 0.6"));
  EXPECT_EQ(found[2].outcome.status, Status::iteration_limit);
  EXPECT_THAT(found[2].outcome.reason, HasSubstr("no total support"));
  EXPECT_EQ(heard, 25);
}

TEST_F(Batch, NamesTheMarginalsThatAreWrong) {
  const WholeProblem whole = random_problem(6, 4, 3);
  const OwnRows<double> own(whole);
  const std::vector<double> negative{1, -1, 0.5, 0.5};
  const std::vector<Marginals> marginals{{own.r, whole.c}, {own.r, negative}};
  EXPECT_THAT(
      [&] { static_cast<void>(sinkhorn::scale_batch<double, double>(context, own.const_view(), marginals)); },
      ThrowsMessage<ArgumentError>(AllOf(HasSubstr("marginals 1: "), HasSubstr("the marginal of column 1 is -1"))));
}

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
  EXPECT_THAT(with({}, 1), ThrowsMessage<ArgumentError>(HasSubstr("no histograms are given")));
  EXPECT_THAT(with({{even, short_one}}, 1),
              ThrowsMessage<ArgumentError>(HasSubstr("histogram 1 has 4 masses, expected 5")));
  EXPECT_THAT(with({{even, heavy}}, 1), ThrowsMessage<ArgumentError>(HasSubstr("histogram 1 has the mass 1.5 in all")));
  EXPECT_THAT(with({{even, negative}}, 1),
              ThrowsMessage<ArgumentError>(HasSubstr("the mass 3 of histogram 1 is -0.5")));
  EXPECT_THAT(with({{even, even}, weights}, 1),
              ThrowsMessage<ArgumentError>(HasSubstr("the weights add up to 1.1, expected 1")));
  EXPECT_THAT(with({{even}}, 0), ThrowsMessage<ArgumentError>(HasSubstr("epsilon is 0, expected")));
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
    EXPECT_THAT(
        [&] {
          options.limits.checkpoints.from = &kept.back();
          static_cast<void>(sinkhorn::barycentre<double>(context, own.const_view(), histograms, options));
        },
        ThrowsMessage<ArgumentError>(HasSubstr("the state has come to epsilon")));
  }
}

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
  EXPECT_THAT(
      [&] {
        static_cast<void>(sinkhorn::divergence<double, double>(
            context, {between.const_view(), rows.const_view(), rows.const_view()}, {}, {.epsilon = 1}));
      },
      ThrowsMessage<ArgumentError>(HasSubstr("the costs among the columns are 6 x 6, expected 5 x 5")));
  const std::vector<double> sixth(6, 1.0 / 6);
  EXPECT_THAT([&] { static_cast<void>(divergence(x, sixth, x, sixth, {.epsilon = 1, .rho = {1, 2}})); },
              ThrowsMessage<ArgumentError>(HasSubstr("rho of the rows is 1, that of the columns 2, expected one")));
  EXPECT_THAT([&] { static_cast<void>(divergence(x, sixth, x, sixth, {.epsilon = 1, .rho = {1e-3, 1e-3}})); },
              ThrowsMessage<ArgumentError>(HasSubstr("of row 0 to the power 1 + epsilon / rho leaves the range")));
  WholeProblem skew = costs_of(x, x);
  skew(4, 1) += 0.5;
  const OwnRows<double> wrong(skew);
  EXPECT_THAT(
      [&] {
        static_cast<void>(sinkhorn::divergence<double, double>(
            context, {rows.const_view(), wrong.const_view(), rows.const_view()}, {}, {.epsilon = 1}));
      },
      ThrowsMessage<ArgumentError>(AllOf(HasSubstr("the costs among the rows: "), HasSubstr("row 1, column 4 is"),
                                         HasSubstr("expected a symmetric matrix"))));
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

TEST(TransportBatches, AreWhatEachTransportAloneIs) {
  mpi::Context context(test_comm());
  WholeProblem costs = costs_of(points(14, 41), points(10, 42));
  costs(3, 4) = std::numeric_limits<double>::infinity();
  std::vector<WholeProblem> problems;
  std::vector<OwnRows<double>> own;
  for (std::size_t k = 0; k < 3; ++k) {
    problems.push_back(random_problem(14, 10, 50 + k));
    own.emplace_back(problems.back());
  }
  std::vector<Marginals> marginals;
  for (std::size_t k = 0; k < 3; ++k) marginals.push_back({own[k].r, problems[k].c});
  const OwnRows<double> matrix(costs);
  const auto expect_alike = [&](const sinkhorn::TransportOptions& options, Domain expected) {
    const auto found = sinkhorn::transport_batch<double, double>(context, matrix.const_view(), marginals, options);
    ASSERT_EQ(found.size(), 3U);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto alone = sinkhorn::transport<double, double>(context, matrix.const_view(), marginals[k], options);
      EXPECT_EQ(found[k].outcome.status, Status::converged) << found[k].outcome.reason;
      EXPECT_EQ(found[k].stages.back().domain, expected);
      EXPECT_NEAR(found[k].cost, alone.cost, 1e-11);
      EXPECT_NEAR(found[k].dual, alone.dual, 1e-11);
      for (std::size_t j = 0; j < 10; ++j) {
        EXPECT_NEAR(found[k].g[j] - found[k].g[0], alone.g[j] - alone.g[0], 1e-10);
      }
    }
  };
  expect_alike({.epsilon = 0.1, .limits = {.tolerance = 1e-13}}, Domain::factors);
  expect_alike({.epsilon = 1e-3, .limits = {.tolerance = 1e-12}, .rho = {0.1, 0.1}}, Domain::logarithmic);
  marginals[1].columns = std::span(problems[1].c).first(9);
  EXPECT_THAT(
      [&] {
        static_cast<void>(
            sinkhorn::transport_batch<double, double>(context, matrix.const_view(), marginals, {.epsilon = 1}));
      },
      ThrowsMessage<ArgumentError>(
          AllOf(HasSubstr("marginals 1: "), HasSubstr("marginals of 9 columns are given, expected 10"))));
}

}  // namespace
}  // namespace plait::test
