#include "plait/partition/quality.hpp"

#include <map>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "unit/partition/graphs.hpp"

namespace plait::partition {
namespace {

using namespace plait::test;  // NOLINT: graphs

TEST(Quality, IsWhatTheDefinitionsSay) {
  std::mt19937 random(9);  // NOLINT: the same data each time
  for (int round = 0; round < 300; ++round) {
    const int n = static_cast<int>(random() % 30);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    std::vector<int> part(at(n));
    for (int& p : part) p = static_cast<int>(random() % 4);
    const auto quality = quality_of(graph.view(), part, 4);
    ASSERT_EQ(quality.cut, naive_cut(graph.view(), part));
    ASSERT_EQ(static_cast<const std::vector<Index>&>(quality.weights), naive_weights(graph.view(), part, 4));
    Index volume = 0;
    Index boundary = 0;
    std::map<std::pair<int, int>, Index> between;
    for (int v = 0; v < n; ++v) {
      std::set<int> others;
      for (Index e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        const int other = part[at(graph.neighbours[e])];
        if (other == part[at(v)]) continue;
        others.insert(other);
        between[{part[at(v)], other}] += graph.view().edge_weight(e);
      }
      volume += static_cast<Index>(others.size()) * graph.view().size(v);
      boundary += others.empty() ? 0 : 1;
    }
    ASSERT_EQ(quality.volume, volume);
    ASSERT_EQ(quality.boundary, boundary);
    const Graph quotient = quotient_of(graph.view(), part, 4);
    ASSERT_EQ(graph::flaw_of(quotient.view()), std::nullopt);
    std::map<std::pair<int, int>, Index> found;
    for (int p = 0; p < 4; ++p) {
      quotient.view().for_each_neighbour(p, [&](Vertex q, Index weight) { found[{p, q}] = weight; });
    }
    ASSERT_EQ(found, between);
  }
}

TEST(Quality, CountsComponentsOfPartsAndTellsTheImbalance) {
  const Graph graph = grid(6, 1);
  const std::vector<int> part{0, 1, 0, 0, 1, 1};
  const auto quality = quality_of(graph.view(), part, 3);
  EXPECT_EQ(quality.components, (Vector<Index>{2, 2, 0}));
  EXPECT_EQ(quality.most_components(), 2);
  EXPECT_DOUBLE_EQ(quality.imbalance, .5);
  EXPECT_EQ(quality.cut_edges, 3);
}

}  // namespace
}  // namespace plait::partition
