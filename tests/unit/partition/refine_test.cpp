#include "plait/partition/refine.hpp"

#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "unit/partition/graphs.hpp"

namespace plait::partition {
namespace {

using namespace plait::test;  // NOLINT: graphs

Bounds bounds_of(int parts, Index most, Index least = 1) {
  return {Vector<Index>(Index{parts}, most), Vector<Index>(Index{parts}, least)};
}

TEST(Refinement, ExchangesTwoVerticesAcrossACutWhereNoSingleMoveWouldBeBalanced) {
  // Two squares with all diagonals, a to d and e to h, and two edges between them; d and g are on the wrong sides.
  const std::vector<std::pair<Vertex, Vertex>> pairs{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {4, 5},
                                                     {4, 6}, {4, 7}, {5, 6}, {5, 7}, {6, 7}, {1, 4}, {2, 7}};
  const Graph graph = graph::graph_of_pairs(8, pairs);
  std::vector<int> part{0, 0, 0, 1, 1, 1, 0, 1};
  ASSERT_EQ(naive_cut(graph.view(), part), 8);
  const Bounds bounds = bounds_of(2, 5);
  Refinement refinement(graph.view(), bounds, part);
  EXPECT_EQ(refinement.refine({}, 1), 6);
  EXPECT_EQ(naive_cut(graph.view(), part), 2);
}

TEST(Refinement, GainsWhatTheCutLosesAndKeepsTheBounds) {
  std::mt19937 random(2);  // NOLINT: the same data each time
  for (int round = 0; round < 1000; ++round) {
    const int n = 1 + static_cast<int>(random() % 40);
    const int parts = 1 + static_cast<int>(random() % 5);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    std::vector<int> part(at(n));
    for (int& p : part) p = static_cast<int>(random() % static_cast<unsigned>(parts));
    std::vector<int> home(at(n));
    std::vector<Index> pull(at(n));
    const bool has_homes = round % 3 == 0;
    for (int v = 0; v < n; ++v) {
      home[at(v)] = static_cast<int>(random() % static_cast<unsigned>(parts));
      pull[at(v)] = static_cast<Index>(random() % 6);
    }
    const Homes homes = has_homes ? Homes{home, pull, 3} : Homes{};
    const auto cost = [&] {
      Index sum = homes.edge_factor * naive_cut(graph.view(), part);
      for (std::size_t v = 0; has_homes && v < part.size(); ++v) sum += part[v] != home[v] ? pull[v] : 0;
      return sum;
    };
    const auto before = naive_weights(graph.view(), part, parts);
    const Bounds bounds =
        bounds_of(parts, *std::max_element(before.begin(), before.end()) + static_cast<Index>(random() % 3), 0);
    Refinement refinement(graph.view(), bounds, part, homes);
    const Index cost_before = cost();
    const Index gained = refinement.refine({.together = round % 4, .alone = 3}, static_cast<std::uint64_t>(round));
    ASSERT_GE(gained, 0) << round;
    ASSERT_EQ(cost_before - gained, cost()) << round;
    ASSERT_EQ(cut_of(graph.view(), part), naive_cut(graph.view(), part)) << round;
    for (const Index weight : naive_weights(graph.view(), part, parts))
      ASSERT_LE(weight, bounds.most_weight[Index{0}]) << round;
  }
}

TEST(Refinement, FindsTheMoveThatGainsMost) {
  std::mt19937 random(3);  // NOLINT: the same data each time
  for (int round = 0; round < 300; ++round) {
    const int n = 2 + static_cast<int>(random() % 20);
    const Graph graph = random_graph(random, n, true);
    std::vector<int> part(at(n));
    for (int& p : part) p = static_cast<int>(random() % 4);
    const Bounds bounds = bounds_of(4, 1000, 0);
    Refinement refinement(graph.view(), bounds, part);
    for (Vertex v = 0; v < n; ++v) {
      const auto move = refinement.best_move(v);
      const Index cut = naive_cut(graph.view(), part);
      const int own = part[at(v)];
      Index most = 0;
      bool has_move = false;
      for (Index e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        const int other = part[at(graph.neighbours[e])];
        if (other == own) continue;
        part[at(v)] = other;
        const Index gain = cut - naive_cut(graph.view(), part);
        part[at(v)] = own;
        most = has_move ? std::max(most, gain) : gain;
        has_move = true;
      }
      ASSERT_EQ(move.to >= 0, has_move);
      ASSERT_EQ(move.gain, most) << round;
    }
  }
}

TEST(Refinement, BalancesWhatSingleMovesCan) {
  const Graph graph = grid(20, 20);
  std::vector<int> part(400, 0);
  const Bounds bounds = bounds_of(5, 82);
  Refinement refinement(graph.view(), bounds, part);
  EXPECT_EQ(refinement.excess(), 318 + 4);
  EXPECT_TRUE(refinement.balance(1));
  EXPECT_EQ(refinement.excess(), 0);
  for (const Index weight : naive_weights(graph.view(), part, 5)) EXPECT_LE(weight, 82);
  EXPECT_TRUE(all_parts_have_vertices(part, 5));
}

TEST(Refinement, LeavesNoPartWithoutItsVertices) {
  // A star falls apart gladly, but each part keeps one vertex.
  std::vector<std::pair<Vertex, Vertex>> pairs;
  for (Vertex v = 1; v < 6; ++v) pairs.emplace_back(0, v);
  const Graph graph = graph::graph_of_pairs(6, pairs);
  std::vector<int> part{0, 1, 2, 3, 3, 3};
  const Bounds bounds = bounds_of(4, 6);
  Refinement refinement(graph.view(), bounds, part);
  refinement.refine({}, 1);
  EXPECT_TRUE(all_parts_have_vertices(part, 4));
  EXPECT_EQ(naive_cut(graph.view(), part), 3);
}

}  // namespace
}  // namespace plait::partition
