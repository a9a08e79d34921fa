// Graphs take little more than themselves while they are made, and the sparse solver stays below 100 MB where a table
// of all pairs would not; counted as the bytes that were ever asked for.

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/graph/assignment/assignment.hpp"
#include "plait/graph/mesh.hpp"

#include "savings_kinds.hpp"
#include "support/allocated_bytes.hpp"

namespace plait::graph {
namespace {

constexpr std::size_t limit = 100'000'000;

TEST(AssignmentMemory, OfTwoThousandRanksThatAllShareDataIsBelow100MegabytesWithTheSavings) {
  const std::size_t before = test::allocated_bytes();
  constexpr int n = 2048;
  std::vector<Index> offsets;
  std::vector<int> ranks;
  std::vector<Index> savings;
  offsets.reserve(n + 1);
  ranks.reserve(std::size_t{n} * n);
  savings.reserve(std::size_t{n} * n);
  for (int role = 0; role < n; ++role) {
    offsets.push_back(role * Index{n});
    for (int rank = 0; rank < n; ++rank) {
      ranks.push_back(rank);
      savings.push_back(static_cast<Index>(random_bits(5, savings.size()) % 1'000'000) + 1);
    }
  }
  offsets.push_back(n * Index{n});
  const auto rows = SparseSavings::from_rows(std::move(offsets), std::move(ranks), std::move(savings));
  EXPECT_EQ(assign_sparse(rows).size(), std::size_t{n});
  EXPECT_LT(test::allocated_bytes() - before, limit);
}

TEST(AssignmentMemory, OfSixteenThousandRanksIsBelow100MegabytesBesideTheEntries) {
  for (const test::SavingsKind& kind : test::savings_kinds()) {
    if (kind.name == "products") continue;
    const auto entries = kind.make(16384);
    const std::size_t before = test::allocated_bytes();
    EXPECT_EQ(assign_sparse(SparseSavings::from_entries(16384, entries)).size(), 16384U);
    EXPECT_LT(test::allocated_bytes() - before, limit) << kind.name;
  }
}

/// 200 × 200 × 20 cubes.
Mesh cubes() {
  Mesh mesh;
  const auto node = [](int x, int y, int z) { return static_cast<Vertex>((x * 201 + y) * 21 + z); };
  for (int x = 0; x < 200; ++x) {
    for (int y = 0; y < 200; ++y) {
      for (int z = 0; z < 20; ++z) {
        mesh.kinds.push_back(CellKind::hexahedron);
        for (const int above : {0, 1}) {
          for (const auto& [dx, dy] : {std::pair(0, 0), std::pair(1, 0), std::pair(1, 1), std::pair(0, 1)}) {
            mesh.corners.push_back(node(x + dx, y + dy, z + above));
          }
        }
        mesh.offsets.push_back(mesh.corners.count());
      }
    }
  }
  return mesh;
}

std::size_t bytes_of(const Graph& graph) { return graph.offsets.size() * 8 + graph.neighbours.size() * 4; }

TEST(GraphMemory, OfPairsIsThatOfTheGraphAlone) {
  std::vector<std::pair<Vertex, Vertex>> pairs;
  for (Vertex v = 0; v < 1'000'000; ++v) pairs.emplace_back(v, (v * Index{7}) % 999'983);
  const std::size_t before = test::allocated_bytes();
  const Graph graph = graph_of_pairs(1'000'000, pairs);
  EXPECT_LT(test::allocated_bytes() - before, bytes_of(graph) + 1000);
}

TEST(GraphMemory, OfAMeshIsBelowFourTimesItsGraphBesideIt) {
  const Mesh mesh = cubes();
  const std::size_t before = test::allocated_bytes();
  const Graph graph = dual_graph(mesh);
  EXPECT_EQ(graph.view().edges(), 199 * 200 * 20 * 2 + 200 * 200 * 19);
  EXPECT_LT(test::allocated_bytes() - before, 4 * bytes_of(graph));
}

}  // namespace
}  // namespace plait::graph
