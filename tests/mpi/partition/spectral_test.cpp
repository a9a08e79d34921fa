#include "plait/partition/spectral.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/context.hpp"
#include "plait/partition/partition.hpp"

#include "support/ranks.hpp"
#include "unit/partition/graphs.hpp"

namespace plait::test {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// In·Inᵀ of the incidence matrix In, which has a column for each edge: √w and -√w at its ends.
Matrix naive_laplacian(const GraphView& graph) {
  const auto n = static_cast<std::size_t>(graph.vertices());
  Matrix incidence(n);
  for (std::size_t v = 0; v < n; ++v) {
    graph.for_each_neighbour(static_cast<Index>(v), [&](Vertex u, Index weight) {
      if (static_cast<std::size_t>(u) < v) return;
      for (auto& row : incidence) row.push_back(0);
      incidence[v].back() = std::sqrt(static_cast<double>(weight));
      incidence[at(u)].back() = -incidence[v].back();
    });
  }
  Matrix product(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t e = 0; e < incidence[i].size(); ++e) product[i][j] += incidence[i][e] * incidence[j][e];
    }
  }
  return product;
}

/// By Jacobi's rotations, increasing.
std::vector<double> naive_eigenvalues(Matrix a) {
  const std::size_t n = a.size();
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double angle = .5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
        const double c = std::cos(angle);
        const double s = std::sin(angle);
        for (std::size_t i = 0; i < n; ++i) {
          const auto [x, y] = std::pair(a[i][p], a[i][q]);
          a[i][p] = c * x - s * y;
          a[i][q] = s * x + c * y;
        }
        for (std::size_t i = 0; i < n; ++i) {
          const auto [x, y] = std::pair(a[p][i], a[q][i]);
          a[p][i] = c * x - s * y;
          a[q][i] = s * x + c * y;
        }
      }
    }
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(a[i][i]);
  std::ranges::sort(values);
  return values;
}

TEST(Fiedler, IsTheSecondEigenvalueAndBoundsEachCutOfAThousandRandomGraphs) {
  const mpi::Context context(test_comm());
  mpi::Context alone(MPI_COMM_SELF);
  std::mt19937 random(3);  // NOLINT: the same data each time
  for (int round = 0; round < 1000; ++round) {
    const Graph graph = random_graph(random, 2 + static_cast<int>(random() % 7), round % 2 == 0);
    if (round % context.size() != context.rank()) continue;
    const auto n = static_cast<int>(graph.view().vertices());
    const auto values = naive_eigenvalues(naive_laplacian(graph.view()));
    const double scale = std::max(1., values.back());
    const auto components = graph::components_of(graph.view()).count;
    EXPECT_EQ(std::ranges::count_if(values, [&](double value) { return value < 1e-9 * scale; }), components) << round;
    if (components > 1) continue;
    const auto found = partition::fiedler(alone, graph.view(), 1);
    ASSERT_NEAR(found.value, values[1], 1e-6 * scale) << round;
    EXPECT_LE(found.residual, 1e-4 * scale);
    std::vector<int> side(at(n));
    for (int bits = 1; bits + 1 < 1 << n; ++bits) {
      for (int v = 0; v < n; ++v) side[at(v)] = bits >> v & 1;
      const Index few = std::ranges::count(side, 1);
      ASSERT_GE(static_cast<double>(naive_cut(graph.view(), side)) * (1 + 1e-12), found.least_cut(few, n)) << round;
    }
  }
}

TEST(Spectral, CutsASquareGridAlongOneOfItsSidesThoughTwoVectorsBelongToItsEigenvalue) {
  mpi::Context context(test_comm());
  const Graph graph = grid(16, 16);
  const auto found = partition::fiedler(context, graph.view(), 5);
  EXPECT_NEAR(found.value, 2 - 2 * std::cos(std::acos(-1) / 16), 1e-7);
  EXPECT_EQ(found.vectors.size(), 2U);
  for (const std::uint64_t seed : {0U, 5U, 9U}) {
    EXPECT_EQ(naive_cut(graph.view(), partition::spectral(context, graph.view(), 2, seed).first), 16) << seed;
  }
}

TEST(Spectral, HasTheBitsOfOneRankOnAll) {
  mpi::Context context(test_comm());
  mpi::Context alone(MPI_COMM_SELF);
  const Graph graph = grid(23, 17);
  const auto ours = partition::spectral(context, graph.view(), 5, 2);
  const auto theirs = partition::spectral(alone, graph.view(), 5, 2);
  EXPECT_EQ(ours.first, theirs.first);
  EXPECT_EQ(ours.second.value, theirs.second.value);
}

TEST(Spectral, MakesBalancedPartsOfAnyGraphWithACertificateOfTwo) {
  mpi::Context context(test_comm());
  std::mt19937 random(8);  // NOLINT: the same data each time
  for (int round = 0; round < 12; ++round) {
    const int n = 1 + static_cast<int>(random() % 60);
    const Graph graph = random_graph(random, n, false);
    const int parts = 1 + static_cast<int>(random() % static_cast<unsigned>(std::min(n, 7)));
    const partition::Options options{parts, .1, partition::Method::spectral, 4};
    const auto result = partition::partition(context, graph.view(), {}, options);
    EXPECT_EQ(result.cut, naive_cut(graph.view(), result.part));
    EXPECT_TRUE(all_parts_have_vertices(result.part, parts));
    const Index most = partition::most_weight_of(graph.view().total_weight(), parts, .1);
    for (const Index weight : naive_weights(graph.view(), result.part, parts)) EXPECT_LE(weight, most);
    if (result.start != "spectral") continue;
    EXPECT_EQ(result.least_cut.has_value(), parts == 2);
    EXPECT_LE(result.least_cut.value_or(0), static_cast<double>(result.cut));
  }
}

}  // namespace
}  // namespace plait::test
