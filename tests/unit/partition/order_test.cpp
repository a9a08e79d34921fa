#include "plait/partition/order.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "plait/graph/search.hpp"
#include "plait/partition/least_degree.hpp"
#include "plait/partition/multilevel.hpp"
#include "plait/partition/separator.hpp"

#include "unit/partition/graphs.hpp"

namespace plait::partition {
namespace {

using namespace plait::test;  // NOLINT: graphs

/// Elimination as it is defined: all neighbours that are left become neighbours.
Fill naive_fill(const GraphView& graph, const std::vector<Vertex>& order) {
  std::vector<std::set<Vertex>> left(order.size());
  for (Index v = 0; v < graph.vertices(); ++v) {
    graph.for_each_neighbour(v, [&](Vertex u, Index) { left[at(v)].insert(u); });
  }
  std::vector<Index> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[at(order[i])] = static_cast<Index>(i);
  std::vector<Index> depth(order.size(), 1);
  Fill fill;
  for (const Vertex v : order) {
    const auto column = left[at(v)];
    const auto entries = 1 + static_cast<Index>(column.size());
    fill.entries += entries;
    fill.operations += static_cast<double>(entries * entries);
    fill.height = std::max(fill.height, depth[at(v)]);
    for (const Vertex u : column) {
      left[at(u)].erase(v);
      for (const Vertex w : column) {
        if (w != u) left[at(u)].insert(w);
      }
    }
    if (column.empty()) continue;
    const Vertex parent = *std::ranges::min_element(column, {}, [&](Vertex u) { return place[at(u)]; });
    depth[at(parent)] = std::max(depth[at(parent)], depth[at(v)] + 1);
  }
  return fill;
}

TEST(Fill, IsWhatEliminationLeaves) {
  std::mt19937 random(7);  // NOLINT: the same data each time
  for (int round = 0; round < 500; ++round) {
    const int n = static_cast<int>(random() % 30);
    const Graph graph = random_graph(random, n, false);
    std::vector<Vertex> order(at(n));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);
    const Fill fill = fill_of(graph.view(), order);
    const Fill expected = naive_fill(graph.view(), order);
    ASSERT_EQ(fill.entries, expected.entries) << round;
    ASSERT_EQ(fill.operations, expected.operations) << round;
    ASSERT_EQ(fill.height, expected.height) << round;
  }
}

bool separates(const GraphView& graph, std::span<const int> side) {
  for (Index v = 0; v < graph.vertices(); ++v) {
    bool is_apart = true;
    graph.for_each_neighbour(v, [&](Vertex u, Index) { is_apart = is_apart && side[at(v)] + side[at(u)] != 1; });
    if (!is_apart) return false;
  }
  return true;
}

TEST(Separator, HasTheFewestVerticesThatCoverACut) {
  std::mt19937 random(8);  // NOLINT: the same data each time
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random() % 12);
    const Graph graph = random_graph(random, n, false);
    std::vector<int> side(at(n));
    for (int& s : side) s = static_cast<int>(random() % 2);
    const auto separator = least_separator(graph.view(), side);
    const auto without = [&](unsigned set) {
      std::vector<int> taken = side;
      for (int v = 0; v < n; ++v) {
        if ((set >> static_cast<unsigned>(v) & 1U) != 0) taken[at(v)] = 2;
      }
      return taken;
    };
    unsigned found = 0;
    for (const Vertex v : separator) found |= 1U << static_cast<unsigned>(v);
    ASSERT_TRUE(separates(graph.view(), without(found))) << round;
    for (unsigned set = 0; set < 1U << static_cast<unsigned>(n); ++set) {
      ASSERT_TRUE(std::popcount(set) >= std::popcount(found) || !separates(graph.view(), without(set))) << round;
    }
  }
}

TEST(Separator, StaysOneAndGetsNoHeavierByRefinement) {
  std::mt19937 random(9);  // NOLINT: the same data each time
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random() % 40);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    std::vector<int> side(at(n));
    for (int& s : side) s = static_cast<int>(random() % 2);
    for (const Vertex v : least_separator(graph.view(), side)) side[at(v)] = 2;
    const Index before = separator_weight(graph.view(), side);
    const auto weights = naive_weights(graph.view(), side, 3);
    const Index most = std::max(weights[0], weights[1]);
    refine_separator(graph.view(), most, side);
    ASSERT_TRUE(separates(graph.view(), side)) << round;
    ASSERT_LE(separator_weight(graph.view(), side), before) << round;
    const auto after = naive_weights(graph.view(), side, 3);
    ASSERT_LE(std::max(after[0], after[1]), most) << round;
  }
}

TEST(Separator, ByALevelIsTheLightestThatBalancesOrNone) {
  std::mt19937 random(13);  // NOLINT: the same data each time
  int found = 0;
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random() % 40);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    const Index most = graph.view().total_weight() / 2;
    const auto side = separated_by_level(graph.view(), most);
    const auto level = levels_from(graph.view(), far_out(graph.view(), 0));
    Index least = std::numeric_limits<Index>::max();
    for (int l = 0; l <= std::ranges::max(level); ++l) {
      std::vector<int> trial;
      for (const int of : level) trial.push_back(of == l ? 2 : of < l ? 0 : 1);
      const auto weights = naive_weights(graph.view(), trial, 3);
      if (std::max(weights[0], weights[1]) <= most) least = std::min(least, weights[2]);
    }
    ASSERT_EQ(side.empty(), least == std::numeric_limits<Index>::max()) << round;
    if (side.empty()) continue;
    ++found;
    ASSERT_TRUE(separates(graph.view(), side)) << round;
    ASSERT_EQ(separator_weight(graph.view(), side), least) << round;
  }
  EXPECT_GT(found, 200);
}

TEST(Separator, OfAGridIsALine) {
  const Graph graph = grid(40, 20);
  const auto side = separated(graph.view(), 440, 1);
  EXPECT_TRUE(separates(graph.view(), side));
  EXPECT_LE(separator_weight(graph.view(), side), 20);
}

TEST(LeastDegree, HasEachOwnVertexOnceOfAnyGraph) {
  std::mt19937 random(10);  // NOLINT: the same data each time
  for (int round = 0; round < 500; ++round) {
    const int n = static_cast<int>(random() % 60);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    const Vertex own = n == 0 ? 0 : static_cast<Vertex>(random() % (static_cast<unsigned>(n) + 1));
    auto order = by_least_degree(graph.view(), own);
    std::ranges::sort(order);
    std::vector<Vertex> expected(at(own));
    std::iota(expected.begin(), expected.end(), 0);
    ASSERT_EQ(order, expected) << round;
  }
}

TEST(LeastDegree, FillsInNothingOfATreeAndAtMostATenthMoreThanTheGreedyOrder) {
  std::mt19937 random(11);  // NOLINT: the same data each time
  Index ours = 0;
  Index greedy = 0;
  for (int round = 0; round < 200; ++round) {
    const int n = 2 + static_cast<int>(random() % 60);
    std::vector<std::pair<Vertex, Vertex>> edges;
    for (Vertex v = 1; v < n; ++v) edges.emplace_back(v, static_cast<Vertex>(random() % static_cast<unsigned>(v)));
    const Graph tree = graph::graph_of_pairs(n, edges);
    ASSERT_EQ(fill_of(tree.view(), by_least_degree(tree.view(), n)).entries, 2 * n - 1) << round;
    const Graph graph = random_graph(random, n, false);
    ours += fill_of(graph.view(), by_least_degree(graph.view(), n)).entries;
    std::vector<std::set<Vertex>> left(at(n));
    for (Vertex v = 0; v < n; ++v) {
      graph.view().for_each_neighbour(v, [&](Vertex u, Index) { left[at(v)].insert(u); });
    }
    std::set<Vertex> rest;
    for (Vertex v = 0; v < n; ++v) rest.insert(v);
    while (!rest.empty()) {
      const Vertex v = *std::ranges::min_element(rest, {}, [&](Vertex u) { return left[at(u)].size(); });
      rest.erase(v);
      greedy += 1 + static_cast<Index>(left[at(v)].size());
      for (const Vertex u : left[at(v)]) {
        left[at(u)].erase(v);
        for (const Vertex w : left[at(v)]) {
          if (w != u) left[at(u)].insert(w);
        }
      }
    }
  }
  EXPECT_LE(ours, greedy + greedy / 10);
}

TEST(LeastDegree, CountsVerticesThatAreEliminatedLater) {
  const std::vector<std::pair<Vertex, Vertex>> edges{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 5}, {1, 6}};
  const Graph graph = graph::graph_of_pairs(7, edges);
  EXPECT_EQ(by_least_degree(graph.view(), 2), (std::vector<Vertex>{1, 0}));
}

TEST(LeastDegree, LeavesAHubToTheEnd) {
  std::vector<std::pair<Vertex, Vertex>> edges;
  for (Vertex v = 1; v < 400; ++v) edges.emplace_back(0, v);
  const Graph star = graph::graph_of_pairs(400, edges);
  EXPECT_EQ(by_least_degree(star.view(), 400).back(), 0);
}

}  // namespace
}  // namespace plait::partition
