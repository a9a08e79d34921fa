#include <array>
#include <cmath>
#include <optional>
#include <span>
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

using sinkhorn::Domain;
using sinkhorn::Metric;
using sinkhorn::NodeGrid;
using sinkhorn::PointClouds;
using sinkhorn::TransportOptions;
using ::testing::HasSubstr;

/// Nodes of a grid, the same on all ranks, and the problem with their costs stored, made pair by pair.
struct Nodes {
  /// \param to  the power of differences of coordinates
  Nodes(NodeGrid of, Metric how, double to)
      : grid(of), metric(how), power(to), whole(random_problem(of.nodes(), of.nodes(), 17)) {
    const auto n = grid.nodes();
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        double sum = 0;
        for (int axis = 0; axis < 3; ++axis) {
          const double way = place(i, axis) - place(j, axis);
          sum += std::pow(std::abs(way), power);
        }
        whole(i, j) = sum;
      }
    }
    // Nodes without mass, as images have them.
    for (std::size_t i = 0; i + 1 < whole.r.size(); i += 5) {
      whole.r[i + 1] += whole.r[i];
      whole.c[i] += whole.c[i + 1];
      whole.r[i] = whole.c[i + 1] = 0;
    }
  }

  [[nodiscard]] double place(Index node, int axis) const {
    for (int a = 2; a > axis; --a) node /= grid.extents[static_cast<std::size_t>(a)];
    const auto at = static_cast<std::size_t>(axis);
    return grid.spacing[at] * static_cast<double>(node % grid.extents[at]);
  }
  template <class A = double>
  [[nodiscard]] PointClouds<A> own(const OwnRows<double>& rows) const {
    return {{nullptr, rows.rows, 0, 1, StorageOrder::row_major},
            {nullptr, grid.nodes(), 0, 1, StorageOrder::row_major},
            metric,
            metric == Metric::minkowski ? power : 2,
            grid,
            rows.first,
            metric == Metric::minkowski ? power : 1};
  }

  NodeGrid grid;
  Metric metric;
  double power;
  WholeProblem whole;
};

struct TransportOfNodes : ::testing::Test {
  mpi::Context context{test_comm()};
};

std::vector<Nodes> grids() {
  return {{{2, {7, 11, 1}, {0.1, 0.07, 1}}, Metric::squared_euclidean, 2},
          {{2, {1, 20, 1}, {1, 0.05, 1}}, Metric::squared_euclidean, 2},
          {{1, {37, 1, 1}, {0.03, 1, 1}}, Metric::cityblock, 1},
          {{3, {3, 5, 4}, {0.3, 0.2, 0.25}}, Metric::squared_euclidean, 2},
          {{3, {2, 9, 3}, {0.5, 0.1, 0.3}}, Metric::cityblock, 1},
          {{2, {5, 6, 1}, {0.2, 0.15, 1}}, Metric::minkowski, 3},
          {{1, {1, 1, 1}, {1, 1, 1}}, Metric::squared_euclidean, 2}};
}

TEST_F(TransportOfNodes, IsThatOfTheStoredCosts) {
  for (const Nodes& nodes : grids()) {
    OwnRows<double> own(nodes.whole);
    const auto points = nodes.own(own);
    // With the smallest, powers of costs leave the range of numbers.
    for (const double epsilon : {0.2, 2e-3, 2e-4}) {
      for (const sinkhorn::Rho rho : {sinkhorn::Rho{}, sinkhorn::Rho{0.3, sinkhorn::infinity}}) {
        SCOPED_TRACE(std::to_string(nodes.grid.extents[0]) + " nodes first, epsilon " + std::to_string(epsilon) +
                     ", rho " + std::to_string(rho.rows));
        const TransportOptions options{.epsilon = epsilon,
                                       .domain = Domain::logarithmic,
                                       .first_epsilon = 0.2,
                                       .limits = {.tolerance = 1e-7, .most_iterations = 30},
                                       .rho = rho};
        const auto stored =
            sinkhorn::transport<double, double>(context, own.const_view(), {own.r, nodes.whole.c}, options);
        const auto made = sinkhorn::transport<double>(context, points, {own.r, nodes.whole.c}, options);
        EXPECT_EQ(made.outcome.iterations, stored.outcome.iterations);
        EXPECT_NEAR(made.cost, stored.cost, 1e-10);
        EXPECT_NEAR(made.mass, stored.mass, 1e-10);
        EXPECT_NEAR(made.dual, stored.dual, 1e-10);
        EXPECT_NEAR(made.primal, stored.primal, 1e-10);
        EXPECT_NEAR(made.row_divergence, stored.row_divergence, 1e-9);
        for (std::size_t i = 0; i < made.f.size(); ++i) {
          if (made.f[i] != stored.f[i]) {
            EXPECT_NEAR(made.f[i], stored.f[i], 1e-9);
          }
        }
        for (std::size_t j = 0; j < made.g.size(); ++j) {
          if (made.g[j] != stored.g[j]) {
            EXPECT_NEAR(made.g[j], stored.g[j], 1e-9);
          }
        }

        const auto dimensions = static_cast<std::size_t>(nodes.grid.dimensions);
        std::vector<double> rows(made.f.size());
        std::vector<double> columns(made.g.size());
        std::vector<double> map(made.f.size() * dimensions);
        sinkhorn::for_each_plan_row<double, double>(
            own.const_view(), epsilon, made.f, made.g, [&](Index i, std::span<const double> row) {
              const auto at = static_cast<std::size_t>(i);
              for (std::size_t j = 0; j < row.size(); ++j) {
                rows[at] += row[j];
                columns[j] += row[j];
                for (std::size_t a = 0; a < dimensions; ++a) {
                  map[at * dimensions + a] += row[j] * nodes.place(static_cast<Index>(j), static_cast<int>(a));
                }
              }
            });
        std::vector<double> sums_of_rows(rows.size());
        std::vector<double> sums_of_columns(columns.size());
        sinkhorn::plan_sums<double>(context, points, epsilon, made.f, made.g, sums_of_rows, sums_of_columns);
        for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(sums_of_rows[i], rows[i], 1e-9);
        for (std::size_t j = 0; j < columns.size(); ++j) EXPECT_NEAR(sums_of_columns[j], columns[j], 1e-9);
        const auto places = sinkhorn::barycentric_projection<double>(points, epsilon, made.g);
        ASSERT_EQ(places.size(), map.size());
        for (std::size_t i = 0; i < map.size(); ++i) {
          if (rows[i / dimensions] > 1e-12) {
            EXPECT_NEAR(places[i], map[i] / rows[i / dimensions], 1e-8);
          }
        }
        sinkhorn::for_each_plan_row<double>(points, epsilon, made.f, made.g, [&](Index i, const auto& row) {
          double sum = 0;
          for (const double entry : row) sum += entry;
          EXPECT_NEAR(sum, rows[static_cast<std::size_t>(i)], 1e-9);
        });
      }
    }
  }
}

TEST_F(TransportOfNodes, HasABarycentreThatIsThatOfTheStoredCosts) {
  const Nodes nodes({2, {6, 5, 1}, {0.2, 0.25, 1}}, Metric::squared_euclidean, 2);
  const OwnRows<double> own(nodes.whole);
  const sinkhorn::Histograms histograms{{nodes.whole.r, nodes.whole.c}, {}};
  const sinkhorn::TransportOptions options{.epsilon = 0.01, .domain = Domain::logarithmic};
  const auto stored = sinkhorn::barycentre<double>(context, own.const_view(), histograms, options);
  const auto made = sinkhorn::barycentre(context, nodes.own(own), histograms, options);
  EXPECT_EQ(made.outcome.status, sinkhorn::Status::converged) << made.outcome.reason;
  for (std::size_t i = 0; i < made.masses.size(); ++i) EXPECT_NEAR(made.masses[i], stored.masses[i], 1e-9);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(made.costs[k], stored.costs[k], 1e-9);
}

TEST_F(TransportOfNodes, WorksInFloat) {
  const Nodes nodes({2, {9, 8, 1}, {0.1, 0.1, 1}}, Metric::squared_euclidean, 2);
  const OwnRows<double> own(nodes.whole);
  for (const double epsilon : {0.1, 5e-3}) {
    const TransportOptions options{.epsilon = epsilon, .limits = {.tolerance = 1e-4}};
    const auto single = sinkhorn::transport<float>(context, nodes.own<float>(own), {own.r, nodes.whole.c}, options);
    const auto twice = sinkhorn::transport<double>(context, nodes.own(own), {own.r, nodes.whole.c}, options);
    EXPECT_EQ(single.outcome.status, sinkhorn::Status::converged) << single.outcome.reason;
    EXPECT_NEAR(single.cost, twice.cost, 1e-4);
  }
}

TEST_F(TransportOfNodes, TakesItsTimeByLinesAndNotByPairs) {
  // 2^32 pairs: to look at each of them takes a thousand times as long.
  const NodeGrid grid{2, {256, 256, 1}, {1, 1, 1}};
  const auto axis = layout::Axis::even(grid.nodes(), ranks());
  const Index rows = axis.local_extent(rank());
  const PointClouds<double> points{{nullptr, rows, 0, 1, StorageOrder::row_major},
                                   {nullptr, grid.nodes(), 0, 1, StorageOrder::row_major},
                                   Metric::squared_euclidean,
                                   2,
                                   grid,
                                   axis.global_of(rank(), 0)};
  std::vector<double> masses;
  for (Index j = 0; j < grid.nodes(); ++j) masses.push_back(0.1 + random_uniform(5, static_cast<std::uint64_t>(j)));
  double sum = 0;
  for (const double mass : masses) sum += mass;
  for (double& mass : masses) mass /= sum;
  const std::vector<double> own(static_cast<std::size_t>(rows), 1 / static_cast<double>(grid.nodes()));
  const auto found = sinkhorn::transport<double>(context, points, {own, masses}, {.epsilon = 500});
  EXPECT_EQ(found.outcome.status, sinkhorn::Status::converged) << found.outcome.reason;
  EXPECT_NEAR(found.mass, 1, 1e-8);
  EXPECT_NEAR(found.gap(), 0, 1e-4);
}

TEST_F(TransportOfNodes, RefusesWhatMakesNoSense) {
  Nodes nodes({2, {4, 3, 1}, {1, 1, 1}}, Metric::squared_euclidean, 2);
  const OwnRows<double> own(nodes.whole);
  const auto attempt = [&](const auto& change) {
    return [&, change] {
      auto points = nodes.own(own);
      change(points);
      static_cast<void>(sinkhorn::transport<double>(context, points, {own.r, nodes.whole.c}, {.epsilon = 1}));
    };
  };
  EXPECT_THAT(message_of<ArgumentError>(attempt([](auto& points) { points.metric = Metric::euclidean; })),
              HasSubstr("expected a sum over axes: sqeuclidean, cityblock"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](auto& points) { points.grid->spacing[1] = 0; })),
              HasSubstr("the spacing of the grid is 0, expected a finite number > 0"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](auto& points) { points.grid->extents[0] = 5; })),
              HasSubstr("Y has 12 points, expected 15, the nodes of the grid"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](auto& points) { points.grid->extents = {4, 1, 3}; })),
              HasSubstr("the grid has 3 nodes on axis 2, expected one beyond"));
  EXPECT_THAT(message_of<ArgumentError>(attempt([](auto& points) { points.first_node += 1; })),
              HasSubstr("the first node of this rank is 1, expected 0"));
}

}  // namespace
}  // namespace plait::test
