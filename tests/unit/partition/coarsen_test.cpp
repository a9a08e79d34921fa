#include "plait/partition/coarsen.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "plait/graph/mesh.hpp"

#include "unit/partition/graphs.hpp"

namespace plait::partition {
namespace {

using namespace plait::test;  // NOLINT: graphs

using graph::Coarse;

struct Merged {
  Vector<Vertex> vertex_of;
  Coarse coarse;
};
Merged merged(const GraphView& graph, Index most_weight, Ties ties = Ties::lowest) {
  Merged result{mates_of(graph, most_weight, {}, {}, ties), {}};
  const Vertex vertices = merge(result.vertex_of);
  result.coarse = contracted(graph, result.vertex_of, vertices);
  return result;
}

TEST(Mates, AreMutualNoHeavierThanAllowedAndOfOneLabel) {
  std::mt19937 random(4);  // NOLINT: the same data each time
  for (int round = 0; round < 500; ++round) {
    const int n = static_cast<int>(random() % 50);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    std::vector<int> labels(at(n));
    for (int& label : labels) label = static_cast<int>(random() % 3);
    const Index most = 2 + static_cast<Index>(random() % 5);
    const auto mates =
        mates_of(graph.view(), most, round % 3 == 0 ? std::span<const int>(labels) : std::span<const int>(), {},
                 std::array{Ties::lowest, Ties::nearest, Ties::random}[at(round / 2 % 3)]);
    for (Vertex v = 0; v < n; ++v) {
      const Vertex u = mates[v];
      ASSERT_EQ(mates[u], v);
      if (u == v) continue;
      ASSERT_LE(graph.view().weight(v) + graph.view().weight(u), most);
      if (round % 3 == 0) {
        ASSERT_EQ(labels[at(v)], labels[at(u)]);
      }
    }
  }
}

TEST(Mates, LeaveNoTwoNeighboursAlone) {
  const Graph graph = grid(30, 30);
  for (const Ties ties : {Ties::lowest, Ties::nearest, Ties::random}) {
    const auto mates = mates_of(graph.view(), 2, {}, {}, ties);
    for (Vertex v = 0; v < 900; ++v) {
      if (mates[v] != v) continue;
      graph.view().for_each_neighbour(v, [&](Vertex u, Index) { EXPECT_NE(mates[u], u); });
    }
  }
}

TEST(Mates, AreInBlocksOfNumbersWhereTheNearestIsPreferred) {
  // Rings of four, one after the other, vertex beside vertex.
  std::vector<std::pair<Vertex, Vertex>> pairs;
  for (Vertex v = 0; v < 400; ++v) {
    pairs.emplace_back(v, v % 4 == 3 ? v - 3 : v + 1);
    if (v < 396) pairs.emplace_back(v, v + 4);
  }
  const Graph graph = graph::graph_of_pairs(400, pairs);
  const auto once = merged(graph.view(), 2, Ties::nearest);
  const auto twice = merged(once.coarse.view(), 4, Ties::nearest);
  for (Vertex v = 0; v < 400; ++v) EXPECT_EQ(twice.vertex_of[once.vertex_of[v]], v / 4);
  EXPECT_EQ(twice.coarse.view().edges(), 99);  // a path
}

TEST(Mates, OfAStarAreLeavesAndOfIsolatedVerticesEachOther) {
  std::vector<std::pair<Vertex, Vertex>> pairs;
  for (Vertex v = 1; v < 100; ++v) pairs.emplace_back(0, v);
  const Graph graph = graph::graph_of_pairs(200, pairs);
  const auto mates = mates_of(graph.view(), 2);
  EXPECT_LE(std::count_if(mates.begin(), mates.end(), [&, v = 0](Vertex u) mutable { return u == v++; }), 2);
}

/// Calls f with one thread, then with several, and expects the same. OpenMP has as many as before afterwards.
template <class F>
void expect_alike_by_threads(F&& f) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto expected = f();
  for (const int threads : {2, 3, 5}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(f(), expected) << threads << " threads";
  }
  omp_set_num_threads(before);
}

std::vector<Graph> large_graphs() {
  std::mt19937 random(7);  // NOLINT: the same data each time
  std::vector<Graph> graphs{grid(200, 210)};
  for (const bool with_weights : {false, true}) graphs.push_back(random_graph(random, 50'000, with_weights));
  return graphs;
}

TEST(Threads, ChangeNoMateAndNoCoarseGraph) {
  for (const Graph& graph : large_graphs()) {
    std::vector<Vertex> order(at(graph.view().vertices()));
    std::iota(order.rbegin(), order.rend(), 0);
    for (const Ties ties : {Ties::lowest, Ties::nearest, Ties::random}) {
      for (const auto& by : {std::span<const Vertex>(), std::span<const Vertex>(order)}) {
        expect_alike_by_threads([&] {
          auto vertex_of = mates_of(graph.view(), 7, {}, by, ties);
          const Vertex vertices = merge(vertex_of, by);
          const Coarse coarse = contracted(graph.view(), vertex_of, vertices);
          std::vector<Index> weights;
          for (const graph::Weights& some : {coarse.view().edge_weights, coarse.view().vertex_weights}) {
            for (std::size_t i = 0; i < some.size(); ++i) weights.push_back(some[i]);
          }
          return std::tuple(vertex_of, coarse.offsets, coarse.neighbours, weights);
        });
      }
    }
  }
}

TEST(Threads, ChangeNoPart) {
  for (const Graph& graph : large_graphs()) {
    const Bounds bounds{Vector<Index>(Index{6}, graph.view().total_weight() / 5), Vector<Index>(Index{6}, 1)};
    expect_alike_by_threads([&] { return multilevel(graph.view(), bounds, 3); });
  }
}

TEST(Contraction, OfAGridIsAGrid) {
  const Graph graph = grid(8, 8);
  const auto once = merged(graph.view(), 2);
  const auto twice = merged(once.coarse.view(), 4).coarse;
  const auto are_all = [](const graph::Weights& weights, std::size_t count, std::uint16_t weight) {
    return std::ranges::equal(weights.with([](auto all) { return std::vector<Index>(all.begin(), all.end()); }),
                              std::vector<Index>(count, weight));
  };
  EXPECT_TRUE(are_all(twice.vertex_weights, 16, 4));
  EXPECT_TRUE(are_all(twice.edge_weights, 48, 2));
  EXPECT_EQ(graph::symmetrised({twice.offsets, twice.neighbours, {}, {}, {}}), grid(4, 4));
}

TEST(Contraction, HoldsEdgeWeightsIn16BitsWhereTheyFit) {
  for (const auto& [own, sum] : {std::pair(32767, 65534), std::pair(32768, 65536)}) {
    Graph graph = grid(2, 8);
    graph.edge_weights = Vector<Index>(graph.neighbours.count(), 1);
    for (Index e = 0; e < graph.neighbours.count(); ++e) {
      if (graph.neighbours[e] >= 14) graph.edge_weights[e] = own;
    }
    for (Index e = graph.offsets[14]; e < graph.offsets[16]; ++e) graph.edge_weights[e] = own;
    Vector<Vertex> pairs;
    for (Vertex v = 0; v < 16; ++v) pairs.push_back(v / 2);
    const auto coarse = contracted(graph.view(), pairs, 8);
    EXPECT_EQ(coarse.view().edge_weights.are_narrow(), sum < 65536);
    EXPECT_EQ(coarse.view().edge_weights[0], 2);
    EXPECT_EQ(coarse.view().edge_weights[13], sum);
  }
}

TEST(Multilevel, CutsGridsStraight) {
  const Graph graph = grid(120, 100);
  const Bounds bounds{Vector<Index>(Index{4}, 3090), Vector<Index>(Index{4}, 1)};
  EXPECT_LE(naive_cut(graph.view(), multilevel(graph.view(), bounds, 1)), 224);
}

TEST(Multilevel, CutsGridsThatAreNumberedAtRandomStraight) {
  const Graph graph = grid(120, 100);
  std::vector<Vertex> name(12000);
  std::iota(name.begin(), name.end(), 0);
  std::mt19937 random(8);  // NOLINT: the same data each time
  std::shuffle(name.begin(), name.end(), random);
  std::vector<Vertex> number(name.size());
  const Graph shuffled = subgraph(graph.view(), name, number);
  const Bounds bounds{Vector<Index>(Index{4}, 3090), Vector<Index>(Index{4}, 1)};
  EXPECT_LE(naive_cut(shuffled.view(), multilevel(shuffled.view(), bounds, 1)), 224);
}

TEST(Multilevel, CutsTetrahedraInTheCellsOfAGridStraight) {
  graph::Mesh mesh;
  std::array<int, 3> axes{1, 13, 169};
  for (int cell = 0; cell < 12 * 12 * 12; ++cell) {
    const int node = cell / 144 * 169 + cell / 12 % 12 * 13 + cell % 12;
    do {  // from a corner of the cell to the opposite one along its edges
      const int second = node + axes[0];
      mesh.corners.insert(mesh.corners.end(), {node, second, second + axes[1], second + axes[1] + axes[2]});
      mesh.kinds.push_back(graph::CellKind::tetrahedron);
      mesh.offsets.push_back(mesh.corners.count());
    } while (std::ranges::next_permutation(axes).found);
  }
  const Graph graph = dual_graph(mesh);
  const Bounds bounds{Vector<Index>(Index{4}, 2669), Vector<Index>(Index{4}, 1)};
  // Two planes through the cube cut 576 faces; merging the lowest numbers first led to 669.
  EXPECT_LE(naive_cut(graph.view(), multilevel(graph.view(), bounds, 0)), 600);
}

TEST(Halves, OfATeamAddUpToThoseOfOneRank) {
  const Graph graph = grid(21, 17);
  const Bisect across = [](const GraphView& piece, const Halving& halves) {
    std::vector<int> side(at(piece.vertices()), 1);
    std::fill(side.begin(), side.begin() + halves.wanted(piece.vertices()), 0);
    return side;
  };
  for (const int parts : {1, 2, 7, 16}) {
    const auto alone = by_halves(graph.view(), {parts, 0, 1}, across);
    EXPECT_TRUE(all_parts_have_vertices(alone, parts));
    for (int size = 1; size <= 9; ++size) {
      std::vector<int> sum(alone.size());
      for (int member = 0; member < size; ++member) {
        const auto own = by_halves(graph.view(), {parts, 0, 1}, across, {member, size});
        for (std::size_t v = 0; v < sum.size(); ++v) sum[v] += own[v];
      }
      EXPECT_EQ(sum, alone) << parts << " parts, " << size << " ranks";
    }
  }
}

TEST(Contraction, ConservesWeightsAndCuts) {
  std::mt19937 random(5);  // NOLINT: the same data each time
  for (int round = 0; round < 500; ++round) {
    const int n = 1 + static_cast<int>(random() % 40);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    const auto [vertex_of, coarse] = merged(graph.view(), 10);
    const GraphView small = coarse.view();
    ASSERT_EQ(graph::flaw_of(small), std::nullopt);
    ASSERT_EQ(small.total_weight(), graph.view().total_weight());
    std::vector<int> part(at(small.vertices()));
    for (int& p : part) p = static_cast<int>(random() % 3);
    std::vector<int> expanded;
    for (const Vertex v : vertex_of) expanded.push_back(part[at(v)]);
    ASSERT_EQ(naive_cut(small, part), naive_cut(graph.view(), expanded));
    ASSERT_EQ(naive_weights(small, part, 3), naive_weights(graph.view(), expanded, 3));
  }
}

TEST(Improvement, IsNeverWorseAndKeepsBounds) {
  std::mt19937 random(6);  // NOLINT: the same data each time
  const Graph graph = grid(60, 60);
  for (int round = 0; round < 10; ++round) {
    std::vector<int> part(3600);
    for (std::size_t v = 0; v < part.size(); ++v) part[v] = static_cast<int>(v % 60 / 10);
    for (int swap = 0; swap < 200; ++swap) std::swap(part[random() % part.size()], part[random() % part.size()]);
    const Bounds bounds{Vector<Index>(Index{6}, 618), Vector<Index>(Index{6}, 1)};
    const Index before = naive_cut(graph.view(), part);
    improve(graph.view(), bounds, part, {}, static_cast<std::uint64_t>(round));
    EXPECT_LT(naive_cut(graph.view(), part), before);
    for (const Index weight : naive_weights(graph.view(), part, 6)) EXPECT_LE(weight, 618);
  }
}

}  // namespace
}  // namespace plait::partition
