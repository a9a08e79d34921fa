#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

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
using sinkhorn::Metric;
using sinkhorn::PointClouds;
using sinkhorn::Status;
using sinkhorn::Transport;
using sinkhorn::TransportOptions;
using ::testing::HasSubstr;

/// Two clouds, the same on all ranks, and the problem with their costs stored, made as the textbook says.
struct Clouds {
  Clouds(Index rows, Index columns, Index dimensions, Metric of, double root, std::uint64_t seed, double to = 1)
      : coordinates(dimensions), metric(of), p(root), power(to), whole(random_problem(rows, columns, seed)) {
    for (Index i = 0; i < rows * coordinates; ++i) x.push_back(random_uniform(seed + 1, static_cast<std::uint64_t>(i)));
    for (Index i = 0; i < columns * coordinates; ++i) {
      y.push_back(random_uniform(seed + 2, static_cast<std::uint64_t>(i)));
    }
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) whole(i, j) = static_cast<double>(cost(i, j));
    }
  }
  [[nodiscard]] long double cost(Index i, Index j) const {
    return std::pow(distance(i, j), static_cast<long double>(power));
  }
  [[nodiscard]] long double distance(Index i, Index j) const {
    const long double terms = metric == Metric::cityblock ? 1 : metric == Metric::minkowski ? p : 2;
    long double sum = 0;
    long double largest = 0;
    if (metric == Metric::cosine) {
      long double of_x = 0, of_y = 0;
      for (Index k = 0; k < coordinates; ++k) {
        const long double a = x[static_cast<std::size_t>(i * coordinates + k)];
        const long double b = y[static_cast<std::size_t>(j * coordinates + k)];
        sum += a * b;
        of_x += a * a;
        of_y += b * b;
      }
      return 1 - sum / std::sqrt(of_x * of_y);
    }
    for (Index k = 0; k < coordinates; ++k) {
      const long double way = std::abs(static_cast<long double>(x[static_cast<std::size_t>(i * coordinates + k)]) -
                                       y[static_cast<std::size_t>(j * coordinates + k)]);
      sum += std::pow(way, terms);
      largest = std::max(largest, way);
    }
    if (metric == Metric::chebyshev) return largest;
    return metric == Metric::squared_euclidean ? sum : std::pow(sum, 1 / terms);
  }
  [[nodiscard]] PointClouds<double> own(const OwnRows<double>& rows) const {
    return {{x.data() + rows.first * coordinates, rows.rows, coordinates, std::max(Index{1}, coordinates),
             StorageOrder::row_major},
            {y.data(), whole.columns, coordinates, std::max(Index{1}, coordinates), StorageOrder::row_major},
            metric,
            p,
            {},
            0,
            power};
  }

  Index coordinates;
  Metric metric;
  double p;
  double power;
  WholeProblem whole;
  std::vector<double> x;
  std::vector<double> y;
};

struct TransportOfPoints : ::testing::Test {
  mpi::Context context{test_comm()};
};

TEST_F(TransportOfPoints, IsThatOfTheStoredCosts) {
  struct Case {
    Index rows, columns, coordinates;
    Metric metric;
    double p;
    double power = 1;
  };
  for (const Case& c : {Case{1, 1, 1, Metric::squared_euclidean, 2}, Case{2, 40, 3, Metric::squared_euclidean, 2},
                        Case{37, 16, 3, Metric::squared_euclidean, 2}, Case{50, 33, 20, Metric::squared_euclidean, 2},
                        Case{26, 5, 2, Metric::euclidean, 2}, Case{19, 23, 4, Metric::cityblock, 1},
                        Case{19, 23, 3, Metric::minkowski, 3.5}, Case{21, 18, 3, Metric::cosine, 2},
                        Case{7, 6, 0, Metric::euclidean, 2}, Case{19, 23, 3, Metric::minkowski, 3, 3},
                        Case{9, 31, 2, Metric::chebyshev, 2}, Case{9, 31, 2, Metric::chebyshev, 2, 1.5},
                        Case{12, 17, 3, Metric::euclidean, 2, 1.3}, Case{12, 17, 3, Metric::squared_euclidean, 2, 2},
                        Case{12, 17, 3, Metric::cityblock, 2, 0.7}, Case{8, 9, 4, Metric::cosine, 2, 2},
                        Case{26, 16'401, 2, Metric::squared_euclidean, 2}}) {
    SCOPED_TRACE(std::to_string(c.rows) + " x " + std::to_string(c.columns) + ", " + std::to_string(c.coordinates) +
                 " coordinates, " + std::string(name(c.metric)));
    const Clouds clouds(c.rows, c.columns, c.coordinates, c.metric, c.p, 31, c.power);
    OwnRows<double> own(clouds.whole);
    const auto points = clouds.own(own);
    for (const double epsilon : {0.2, 2e-3}) {
      const TransportOptions options{.epsilon = epsilon,
                                     .domain = Domain::logarithmic,
                                     .first_epsilon = 0.2,
                                     .limits = {.tolerance = 1e-7, .most_iterations = 40}};
      const auto stored =
          sinkhorn::transport<double, double>(context, own.const_view(), {own.r, clouds.whole.c}, options);
      const auto made = sinkhorn::transport<double>(context, points, {own.r, clouds.whole.c}, options);
      EXPECT_EQ(made.outcome.iterations, stored.outcome.iterations);
      EXPECT_NEAR(made.cost, stored.cost, 1e-11);
      EXPECT_NEAR(made.mass, stored.mass, 1e-11);
      EXPECT_NEAR(made.dual, stored.dual, 1e-11);
      for (std::size_t i = 0; i < made.f.size(); ++i) EXPECT_NEAR(made.f[i], stored.f[i], 1e-11);
      for (std::size_t j = 0; j < made.g.size(); ++j) EXPECT_NEAR(made.g[j], stored.g[j], 1e-11);

      OwnRows<double> plan(clouds.whole);
      sinkhorn::transport_plan_in_place<double, double>(plan.view(), epsilon, stored.f, stored.g);
      std::vector<double> map(static_cast<std::size_t>(own.rows * c.coordinates));
      sinkhorn::for_each_plan_row<double>(points, epsilon, made.f, made.g, [&](Index i, std::span<const double> row) {
        ASSERT_EQ(static_cast<Index>(row.size()), c.columns);
        for (Index j = 0; j < c.columns; ++j) {
          EXPECT_NEAR(row[static_cast<std::size_t>(j)], plan.view()(i, j), 1e-8);
          for (Index k = 0; k < c.coordinates; ++k) {
            map[static_cast<std::size_t>(i * c.coordinates + k)] +=
                plan.view()(i, j) * clouds.y[static_cast<std::size_t>(j * c.coordinates + k)] /
                own.r[static_cast<std::size_t>(i)];
          }
        }
      });
      const auto projected = sinkhorn::barycentric_projection<double>(points, epsilon, made.g);
      ASSERT_EQ(projected.size(), map.size());
      for (std::size_t i = 0; i < map.size(); ++i) EXPECT_NEAR(projected[i], map[i], 1e-7);

      // Threads change neither the order of rows nor a bit.
      EXPECT_EQ(sinkhorn::barycentric_projection<double>(points, epsilon, made.g, 3), projected);
      std::vector<std::vector<double>> rows;
      const auto keep = [&](Index, std::span<const double> row) { rows.emplace_back(row.begin(), row.end()); };
      sinkhorn::for_each_plan_row<double>(points, epsilon, made.f, made.g, keep);
      Index next = 0;
      const auto compare = [&](Index i, std::span<const double> row) {
        EXPECT_EQ(i, next++);
        EXPECT_TRUE(std::ranges::equal(row, rows[static_cast<std::size_t>(i)]));
      };
      sinkhorn::for_each_plan_row<double>(points, epsilon, made.f, made.g, compare, 3);
      EXPECT_EQ(next, own.rows);

      const auto checked = sinkhorn::checked_marginals(context, own.rows, c.columns, {own.r, clouds.whole.c});
      sinkhorn::MarginalSums sums(checked);
      sinkhorn::for_each_plan_row<double>(points, epsilon, made.f, made.g,
                                          [&](Index i, std::span<const double> row) { sums.add(i, row); });
      const auto errors = sums.errors(context);
      EXPECT_LT(errors.rows, 1e-12);
      EXPECT_NEAR(errors.columns, made.outcome.error, 1e-9);
    }
  }
}

TEST_F(TransportOfPoints, IsExactForNearPointsFarFromTheOrigin) {
  // Squares of 1e6 lose what squares of differences keep.
  Clouds clouds(12, 10, 3, Metric::squared_euclidean, 2, 41);
  OwnRows<double> own(clouds.whole);
  const TransportOptions options{.epsilon = 0.05, .first_epsilon = 0.05, .limits = {.tolerance = 1e-10}};
  const auto near = sinkhorn::transport<double>(context, clouds.own(own), {own.r, clouds.whole.c}, options);
  for (double& value : clouds.x) value += 1e6;
  for (double& value : clouds.y) value += 1e6;
  const auto far = sinkhorn::transport<double>(context, clouds.own(own), {own.r, clouds.whole.c}, options);
  EXPECT_NEAR(far.cost, near.cost, 1e-9);
}

TEST_F(TransportOfPoints, SendsPointsWithoutMassWhereTheirNeighboursGo) {
  Clouds clouds(9, 8, 2, Metric::squared_euclidean, 2, 51);
  const double freed = clouds.whole.r[4];
  clouds.whole.r[4] = 0;
  clouds.whole.r[5] += freed;
  OwnRows<double> own(clouds.whole);
  const auto points = clouds.own(own);
  const auto result = sinkhorn::transport<double>(context, points, {own.r, clouds.whole.c}, {.epsilon = 0.05});
  EXPECT_EQ(result.outcome.status, Status::converged) << result.outcome.reason;
  const auto map = sinkhorn::barycentric_projection<double>(points, 0.05, result.g);
  for (const double value : map) {
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 1);
  }
}

TEST_F(TransportOfPoints, WorksInFloat) {
  const Clouds clouds(21, 34, 3, Metric::squared_euclidean, 2, 61);
  const OwnRows<double> own(clouds.whole);
  std::vector<float> x(clouds.x.begin() + own.first * 3, clouds.x.begin() + (own.first + own.rows) * 3);
  std::vector<float> y(clouds.y.begin(), clouds.y.end());
  const PointClouds<float> points{{x.data(), own.rows, 3, 3, StorageOrder::row_major},
                                  {y.data(), 34, 3, 3, StorageOrder::row_major}};
  const TransportOptions options{.epsilon = 0.1, .limits = {.tolerance = 1e-5}};
  const auto single = sinkhorn::transport<float>(context, points, {own.r, clouds.whole.c}, options);
  const auto twice = sinkhorn::transport<double>(context, clouds.own(own), {own.r, clouds.whole.c}, options);
  EXPECT_EQ(single.outcome.status, Status::converged) << single.outcome.reason;
  EXPECT_NEAR(single.cost, twice.cost, 1e-5);
}

TEST_F(TransportOfPoints, RefusesWhatMakesNoSense) {
  Clouds clouds(8, 6, 2, Metric::squared_euclidean, 2, 71);
  const OwnRows<double> own(clouds.whole);
  const auto attempt = [&](const auto& change, TransportOptions options = {.epsilon = 1}) {
    return [&, change, options] {
      Clouds changed = clouds;
      change(changed);
      auto points = changed.own(own);
      static_cast<void>(sinkhorn::transport<double>(context, points, {own.r, clouds.whole.c}, options));
    };
  };
  EXPECT_THAT(message_of<ArgumentError>(attempt([](Clouds& c) { c.x[9] = std::nan(""); })),
              HasSubstr("point 4 of X has nan as coordinate 1"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](Clouds& c) { c.y[4] = std::numeric_limits<double>::infinity(); })),
              HasSubstr("point 2 of Y has inf as coordinate 0"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](Clouds& c) {
                c.metric = Metric::cosine;
                c.x[6] = c.x[7] = 0;
              })),
              HasSubstr("point 3 of X has 0 as all coordinates, expected a direction"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](Clouds& c) { c.y[4] = 1e200; })),
              HasSubstr("beyond the range of double"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](Clouds& c) {
                c.metric = Metric::minkowski;
                c.p = 0.5;
              })),
              HasSubstr("p is 0.5, expected a finite number >= 1"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](Clouds& c) { c.power = 0; })),
              HasSubstr("the power of distances is 0, expected a finite number > 0"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](Clouds&) {}, {.epsilon = 1, .domain = Domain::factors})),
              HasSubstr("expected logarithmic or automatic"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](Clouds&) {}, {.epsilon = 0})), HasSubstr("epsilon is 0"));
  if (ranks() > 1) {
    EXPECT_THAT(message_of<ArgumentError>(attempt([](Clouds& c) { c.y[4] += rank() == 1 ? 1 : 0; })),
                HasSubstr("rank 1: digest of Y: is "));
  }
  const PointClouds<double> flat{{clouds.x.data(), own.rows, 1, 1, StorageOrder::row_major},
                                 {clouds.y.data(), 6, 2, 2, StorageOrder::row_major}};
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { return sinkhorn::transport<double>(context, flat, {own.r, clouds.whole.c}, {.epsilon = 1}); }),
              HasSubstr("the points of X have 1 coordinates, those of Y 2"));
}

}  // namespace
}  // namespace plait::test
