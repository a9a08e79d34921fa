#include "plait/partition/coarsen.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/context.hpp"

#include "support/ranks.hpp"
#include "unit/partition/graphs.hpp"

namespace plait::test {
namespace {

using partition::Coarse;
using partition::Merging;
using partition::Ranks;

template <class Span>
auto copied(const Span& span) {
  return std::vector(span.begin(), span.end());
}

/// Coarsens some times, on all ranks and on one, and expects the same graphs.
void expect_the_same_alone(const Ranks& ranks, const GraphView& graph, Index most_weight, std::span<const int> labels,
                           int levels = 3) {
  const auto merging = partition::merged_mates(ranks, graph, most_weight, labels);
  const auto merging_alone = partition::merged_mates({}, graph, most_weight, labels);
  ASSERT_EQ(merging.vertices, merging_alone.vertices);
  ASSERT_EQ(copied(merging.vertex_of.span()), copied(merging_alone.vertex_of.span()));
  const Coarse coarse(ranks, graph, merging);
  const Coarse coarse_alone({}, graph, merging_alone);
  const GraphView view = coarse.view();
  const GraphView alone = coarse_alone.view();
  ASSERT_EQ(copied(view.offsets), copied(alone.offsets));
  ASSERT_EQ(copied(view.neighbours), copied(alone.neighbours));
  ASSERT_EQ(copied(view.vertex_weights), copied(alone.vertex_weights));
  ASSERT_EQ(view.edge_weights.size(), alone.edge_weights.size());
  for (std::size_t e = 0; e < view.edge_weights.size(); ++e) ASSERT_EQ(view.edge_weights[e], alone.edge_weights[e]);
  if (levels > 1 && view.vertices() > 0) expect_the_same_alone(ranks, view, 2 * most_weight, {}, levels - 1);
}

TEST(Coarsening, IsTheSameOnAnyNumberOfRanks) {
  mpi::Context context(test_comm());
  const Ranks ranks(context);
  std::mt19937 random(3);  // NOLINT: the same data on all ranks
  for (int round = 0; round < 200; ++round) {
    const int n = 1 + static_cast<int>(random() % 80);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    std::vector<int> labels(at(n));
    for (int& label : labels) label = static_cast<int>(random() % 2);
    expect_the_same_alone(ranks, graph.view(), 2 + static_cast<Index>(random() % 9),
                          round % 3 == 0 ? labels : std::vector<int>());
  }
}

TEST(Coarsening, OfALongChainOfHeavierAndHeavierEdgesIsTheSameOnAnyNumberOfRanks) {
  mpi::Context context(test_comm());
  // Each vertex waits for the next one, through all ranks.
  Graph graph = grid(999, 1);
  const GraphView plain = graph.view();
  for (Vertex v = 0; v < 999; ++v) {
    plain.for_each_neighbour(v, [&](Vertex u, Index) { graph.edge_weights.push_back(1000 + std::min(u, v)); });
  }
  expect_the_same_alone(Ranks(context), graph.view(), 4, {});
}

TEST(Coarsening, OfAGridIsTheSameOnAnyNumberOfRanks) {
  mpi::Context context(test_comm());
  const Graph graph = grid(301, 200);
  expect_the_same_alone(Ranks(context), graph.view(), 4, {});
}

TEST(Coarsening, WidensEdgeWeightsOfAllRanksWhereOneNeedsIt) {
  mpi::Context context(test_comm());
  Graph graph = grid(40, 2);
  graph.edge_weights = Vector<Index>(graph.neighbours.count(), 1);
  for (const Vertex v : {0, 1}) {
    for (Index e = graph.offsets[v]; e < graph.offsets[v + Index{1}]; ++e) {
      if (graph.neighbours[e] < 2) graph.edge_weights[e] = 100'000;
    }
  }
  expect_the_same_alone(Ranks(context), graph.view(), 1, {}, 1);
}

}  // namespace
}  // namespace plait::test
