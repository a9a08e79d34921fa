#include "plait/partition/kernighan_lin.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/graph/search.hpp"

#include "unit/partition/graphs.hpp"

namespace plait::partition {
namespace {

using namespace plait::test;  // NOLINT: graphs

TEST(Levels, OfASquareMeshFromItsCentreAreCutAfterLevelThree) {
  const Graph graph = grid(7, 7);
  const auto level = levels_from(graph.view(), 24);
  for (int v = 0; v < 49; ++v) EXPECT_EQ(level[at(v)], std::abs(v % 7 - 3) + std::abs(v / 7 - 3));
  const Bounds bounds{{26, 26}, {1, 1}};
  const auto side = sides_by_levels(graph.view(), level, bounds, 24);
  for (std::size_t v = 0; v < 49; ++v) EXPECT_EQ(side[v], level[v] <= 3 ? 0 : 1);
}

TEST(Levels, DifferByOneAtMostAlongAnyEdgeAndAreNeverLeftOut) {
  std::mt19937 random(5);  // NOLINT: the same data each time
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random() % 50);
    const Graph graph = random_graph(random, n, false);
    const auto root = static_cast<Vertex>(random() % static_cast<unsigned>(n));
    const auto level = levels_from(graph.view(), root);
    EXPECT_EQ(level[at(root)], 0);
    const Vertex last = std::ranges::max(level);
    std::vector<bool> is_there(at(last) + 1);
    for (Vertex v = 0; v < n; ++v) {
      ASSERT_GE(level[at(v)], 0);
      is_there[at(level[at(v)])] = true;
      graph.view().for_each_neighbour(
          v, [&](Vertex u, Index) { ASSERT_LE(std::abs(level[at(u)] - level[at(v)]), 1) << round; });
    }
    EXPECT_TRUE(std::ranges::all_of(is_there, [](bool is) { return is; }));
  }
}

TEST(Levels, BeginFarOutOnAPathAndInACornerOfAGrid) {
  EXPECT_EQ(far_out(grid(30, 1).view(), 13) % 29, 0);
  const Vertex corner = far_out(grid(9, 6).view(), 22);
  EXPECT_EQ(corner % 9 % 8, 0);
  EXPECT_EQ(corner / 9 % 5, 0);
}

/// The definition of D.
std::vector<Index> naive_differences(const GraphView& graph, std::span<const int> side) {
  std::vector<Index> result(side.size());
  for (std::size_t v = 0; v < side.size(); ++v) {
    for (Index e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const Index weight = graph.edge_weights.empty() ? 1 : graph.edge_weights[at(e)];
      result[v] += side[at(graph.neighbours[at(e)])] != side[v] ? weight : -weight;
    }
  }
  return result;
}

TEST(Exchange, HalvesTheCutOfTwoClustersByOnePair) {
  // a to d and e to h are clusters, with four edges between them; d and g are on the wrong sides.
  const std::vector<std::pair<Vertex, Vertex>> pairs{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {4, 5}, {4, 6},
                                                     {5, 6}, {6, 7}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const Graph graph = graph::graph_of_pairs(8, pairs);
  std::vector<int> side{0, 0, 0, 1, 1, 1, 0, 1};
  ASSERT_EQ(naive_cut(graph.view(), side), 8);
  const Bounds bounds{{4, 4}, {4, 4}};
  Exchange exchange(graph.view(), bounds, side);
  EXPECT_EQ(exchange.pass(), std::pair(Index{0}, Index{4}));
  EXPECT_EQ(side, (std::vector{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(exchange.pass(), std::pair(Index{0}, Index{0}));
}

TEST(Exchange, UpdatesDifferencesAsTheyAreByDefinitionAndNeverMakesTheCutWorse) {
  std::mt19937 random(6);  // NOLINT: the same data each time
  for (int round = 0; round < 1000; ++round) {
    const int n = 2 + static_cast<int>(random() % 40);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    std::vector<int> side(at(n));
    for (int& s : side) s = static_cast<int>(random() % 2);
    const auto before = side;
    const auto weights = naive_weights(graph.view(), side, 2);
    const Bounds bounds{Vector<Index>(Index{2}, std::max(weights[0], weights[1]) - static_cast<Index>(random() % 3)),
                        {0, 0}};
    const auto excess = [&](std::span<const int> of) {
      Index sum = 0;
      for (const Index weight : naive_weights(graph.view(), of, 2))
        sum += std::max(Index{0}, weight - bounds.most_weight[Index{0}]);
      return sum;
    };
    Exchange exchange(graph.view(), bounds, side);
    const auto [less_excess, less_cut] = exchange.pass();
    ASSERT_EQ(std::vector(exchange.differences().begin(), exchange.differences().end()),
              naive_differences(graph.view(), side));
    ASSERT_EQ(std::ranges::count(side, 0), std::ranges::count(before, 0));
    ASSERT_EQ(less_excess, excess(before) - excess(side)) << round;
    ASSERT_EQ(less_cut, naive_cut(graph.view(), before) - naive_cut(graph.view(), side)) << round;
    ASSERT_TRUE(less_excess > 0 || (less_excess == 0 && less_cut >= 0)) << round;
  }
}

TEST(Exchange, TakesThePairsThatTheDefinitionTakes) {
  std::mt19937 random(7);  // NOLINT: the same data each time
  for (int round = 0; round < 200; ++round) {
    const int n = 2 + static_cast<int>(random() % 15);
    const Graph graph = random_graph(random, n, true);
    std::vector<int> side(at(n));
    for (int v = 0; v < n; ++v) side[at(v)] = v % 2;
    // Every pair is tried, and D is computed again, after each exchange.
    auto trial = side;
    std::vector<bool> is_free(at(n), true);
    const Index cut = naive_cut(graph.view(), side);
    Index least = cut;
    for (int step = 0; step < n / 2; ++step) {
      std::pair<Index, std::pair<int, int>> best{std::numeric_limits<Index>::max(), {}};
      const auto d = naive_differences(graph.view(), trial);
      for (int a = 0; a < n; ++a) {
        for (int b = 0; b < n; ++b) {
          if (!is_free[at(a)] || !is_free[at(b)] || side[at(a)] != 0 || side[at(b)] != 1) continue;
          std::swap(trial[at(a)], trial[at(b)]);
          // Of equal pairs the one that stands first by D, and then by number.
          const Index after = naive_cut(graph.view(), trial);
          std::swap(trial[at(a)], trial[at(b)]);
          const auto key = [&](int x, int y) { return std::tuple(-d[at(x)], x, -d[at(y)], y); };
          if (after < best.first || (after == best.first && key(a, b) < key(best.second.first, best.second.second))) {
            best = {after, {a, b}};
          }
        }
      }
      std::swap(trial[at(best.second.first)], trial[at(best.second.second)]);
      is_free[at(best.second.first)] = is_free[at(best.second.second)] = false;
      least = std::min(least, best.first);
    }
    const Bounds bounds{{1000, 1000}, {0, 0}};
    Exchange exchange(graph.view(), bounds, side);
    EXPECT_EQ(exchange.pass().second, cut - least) << round;
    EXPECT_EQ(naive_cut(graph.view(), side), least) << round;
  }
}

}  // namespace
}  // namespace plait::partition
