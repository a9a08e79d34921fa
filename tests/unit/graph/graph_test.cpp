#include "plait/graph/graph.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::graph {
namespace {

using ::testing::HasSubstr;

using Rows = std::vector<std::vector<std::pair<Vertex, Index>>>;

Graph of_rows(const Rows& rows) {
  Graph graph;
  for (const auto& row : rows) {
    for (const auto& [u, weight] : row) {
      graph.neighbours.push_back(u);
      graph.edge_weights.push_back(weight);
    }
    graph.offsets.push_back(graph.neighbours.count());
  }
  return graph;
}

// By the definition, in the order in which a reader of the rows finds them.
std::optional<Flaw> naive_flaw(const Rows& rows) {
  const auto weight_of = [&](std::size_t v, std::size_t u) -> Index {
    for (const auto& [to, weight] : rows[v]) {
      if (to == static_cast<Vertex>(u)) return weight;
    }
    return 0;
  };
  for (std::size_t v = 0; v < rows.size(); ++v) {
    std::set<Vertex> seen;
    for (const auto& [to, weight] : rows[v]) {
      const auto u = static_cast<std::size_t>(to);
      if (u == v) return Flaw{Flaw::Kind::self_loop, static_cast<Index>(v), to};
      if (!seen.insert(to).second) return Flaw{Flaw::Kind::twice, static_cast<Index>(v), to};
      if (weight_of(u, v) == 0) return Flaw{Flaw::Kind::one_way, static_cast<Index>(v), to};
      if (weight_of(u, v) != weight) return Flaw{Flaw::Kind::weights_differ, static_cast<Index>(v), to};
    }
  }
  return std::nullopt;
}

TEST(Graph, HasNoFlawIfEachEdgeIsAtBothEndsWithOneWeight) {
  EXPECT_EQ(flaw_of(of_rows({}).view()), std::nullopt);
  EXPECT_EQ(flaw_of(of_rows({{}, {}}).view()), std::nullopt);
  EXPECT_EQ(flaw_of(of_rows({{{1, 5}}, {{0, 5}, {2, 7}}, {{1, 7}}}).view()), std::nullopt);
}

TEST(Graph, NamesEachKindOfFlaw) {
  EXPECT_EQ(flaw_of(of_rows({{{0, 1}}}).view()), (Flaw{Flaw::Kind::self_loop, 0, 0}));
  EXPECT_EQ(flaw_of(of_rows({{{1, 1}, {1, 1}}, {{0, 1}, {0, 1}}}).view()), (Flaw{Flaw::Kind::twice, 0, 1}));
  EXPECT_EQ(flaw_of(of_rows({{}, {{0, 1}}}).view()), (Flaw{Flaw::Kind::one_way, 1, 0}));
  EXPECT_EQ(flaw_of(of_rows({{{1, 3}}, {{0, 4}}}).view()), (Flaw{Flaw::Kind::weights_differ, 0, 1}));
}

TEST(Graph, IsFlawlessExactlyWhereTheDefinitionSaysSo) {
  std::mt19937 random(1);  // NOLINT: the same data each time
  int flawless = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto n = static_cast<int>(random() % 6);
    Rows rows(static_cast<std::size_t>(n));
    for (int v = 0; v < n; ++v) {
      for (int u = v + 1; u < n; ++u) {
        if (random() % 2 != 0) continue;
        const auto weight = static_cast<Index>(1 + random() % 3);
        rows[at(v)].emplace_back(u, weight);
        rows[at(u)].emplace_back(v, weight);
      }
      std::ranges::shuffle(rows[at(v)], random);
    }
    if (n > 0 && round % 2 == 0) {
      rows[random() % rows.size()].emplace_back(static_cast<Vertex>(random() % rows.size()), 1);
    }
    const auto expected = naive_flaw(rows);
    const auto found = flaw_of(of_rows(rows).view());
    flawless += expected ? 0 : 1;
    ASSERT_EQ(found.has_value(), expected.has_value()) << "round " << round;
  }
  EXPECT_GT(flawless, 500);
}

TEST(Graph, BecomesSymmetricWithTheHeavierWeight) {
  const Graph graph = symmetrised(of_rows({{{2, 3}, {1, 5}, {0, 9}}, {}, {{0, 4}, {0, 1}}}));
  EXPECT_EQ(graph, of_rows({{{1, 5}, {2, 4}}, {{0, 5}}, {{0, 4}}}));
}

TEST(Graph, OfPairsHasEachEdgeOnceWhicheverEndComesFirst) {
  const std::vector<std::pair<Vertex, Vertex>> pairs{{2, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {0, 2}};
  const Graph graph = graph_of_pairs(4, pairs);
  EXPECT_EQ(graph.offsets, (Vector<Index>{0, 2, 3, 4, 4}));
  EXPECT_EQ(graph.neighbours, (Vector<Vertex>{1, 2, 0, 0}));
  EXPECT_EQ(flaw_of(graph.view()), std::nullopt);
}

TEST(Graph, HasComponentsWithinLabels) {
  // A path of five, and one alone.
  const std::vector<std::pair<Vertex, Vertex>> pairs{{0, 1}, {1, 2}, {2, 3}, {3, 4}};
  const Graph graph = graph_of_pairs(6, pairs);
  const auto whole = components_of(graph.view());
  EXPECT_EQ(whole.count, 2);
  EXPECT_EQ(whole.of, (Vector<Vertex>{0, 0, 0, 0, 0, 1}));
  const std::vector<int> labels{0, 0, 1, 0, 0, 0};
  const auto cut = components_of(graph.view(), labels);
  EXPECT_EQ(cut.count, 4);
  EXPECT_EQ(cut.of, (Vector<Vertex>{0, 0, 1, 2, 2, 3}));
}

TEST(Graph, IsRefusedByWhatIsWrongWithIt) {
  const auto refusal = [](Graph graph, const std::string& words) {
    EXPECT_THAT(test::message_of<ArgumentError>([&] { expect_graph(graph.view()); }), HasSubstr(words));
  };
  Graph edge = of_rows({{{1, 1}}, {{0, 1}}});
  EXPECT_NO_THROW(expect_graph(edge.view()));
  Graph graph = edge;
  graph.neighbours[0] = 2;
  refusal(graph, "a neighbour is 2; expected numbers from 0 to 1");
  graph = edge;
  graph.edge_weights[1] = 0;
  refusal(graph, "is 0; expected 1 at least");
  graph = edge;
  graph.vertex_weights = {1, -1};
  refusal(graph, "is -1; expected 0 at least");
  graph.vertex_weights = {most_weight, 1};
  refusal(graph, "add up to more than 2^62");
  graph.vertex_weights = {1};
  refusal(graph, "1 weights of vertices; expected 2");
  graph = edge;
  graph.offsets[1] = 3;
  refusal(graph, "offsets must increase");
  refusal(of_rows({{}, {{0, 1}}}), "vertex 1 has the neighbour 0, which does not have 1");
}

}  // namespace
}  // namespace plait::graph
