#include "plait/partition/order.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#ifdef PLAIT_HAS_METIS
#include <metis.h>
#endif

#include "plait/mpi/collectives.hpp"
#include "plait/partition/least_degree.hpp"

#include "support/ranks.hpp"
#include "unit/partition/graphs.hpp"

namespace plait::test {
namespace {

TEST(NestedDissection, HasEachVertexOnceWhateverTheGraph) {
  mpi::Context context(test_comm());
  std::mt19937 random(10);  // NOLINT: the same data each time
  for (int round = 0; round < 40; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random() % 600), round % 2 == 0);
    auto order = partition::nested_dissection(context, graph.view(), static_cast<std::uint64_t>(round));
    std::ranges::sort(order);
    for (std::size_t v = 0; v < order.size(); ++v) ASSERT_EQ(order[v], static_cast<Vertex>(v)) << round;
  }
}

TEST(NestedDissection, IsThatOfOneRankOnAll) {
  mpi::Context context(test_comm());
  mpi::Context alone(MPI_COMM_SELF);
  const Graph graph = grid(150, 120);
  EXPECT_EQ(partition::nested_dissection(context, graph.view(), 3),
            partition::nested_dissection(alone, graph.view(), 3));
}

TEST(NestedDissection, FillsSmallGraphsInLittleMoreThanLeastDegreeDoes) {
  mpi::Context context(test_comm());
  for (const auto& [edge, entries] : {std::pair{70, 79524}, std::pair{200, 976217}}) {  // of SuperLU's MMD_AT_PLUS_A
    const Graph graph = grid(edge, edge);
    const auto fill = partition::fill_of(graph.view(), partition::nested_dissection(context, graph.view(), 0));
    EXPECT_LE(static_cast<double>(fill.entries), 1.05 * entries) << edge;
  }
}

TEST(NestedDissection, FillsACubeInLessThanMetisDoes) {
  mpi::Context context(test_comm());
  std::vector<std::pair<Vertex, Vertex>> edges;
  for (Vertex v = 0; v < 8000; ++v) {
    if (v % 20 < 19) edges.emplace_back(v, v + 1);
    if (v / 20 % 20 < 19) edges.emplace_back(v, v + 20);
    if (v / 400 < 19) edges.emplace_back(v, v + 400);
  }
  const Graph graph = graph::graph_of_pairs(8000, edges);
  const auto fill = partition::fill_of(graph.view(), partition::nested_dissection(context, graph.view(), 0));
  EXPECT_LT(fill.entries, 605'532);  // by METIS_NodeND
}

TEST(NestedDissection, FillsGraphsWithHubsInNoMoreThanLeastDegreeDoes) {
  mpi::Context context(test_comm());
  std::mt19937 random(12);  // NOLINT: the same data each time
  std::vector<std::pair<Vertex, Vertex>> edges;
  std::vector<Vertex> ends{0};
  for (Vertex v = 1; v < 20000; ++v) {
    for (int i = 0; i < 2; ++i) edges.emplace_back(v, ends[at(static_cast<Index>(random() % ends.size()))]);
    ends.insert(ends.end(), {v, edges.back().second});
  }
  const Graph graph = graph::graph_of_pairs(20000, edges);
  const auto by_degree = partition::by_least_degree(graph.view(), 20000);
  EXPECT_LE(partition::fill_of(graph.view(), partition::nested_dissection(context, graph.view(), 0)).entries,
            partition::fill_of(graph.view(), by_degree).entries);
}

TEST(NestedDissection, FillsGridsInLittleMoreThanMetisDoes) {
#ifdef PLAIT_HAS_METIS
  mpi::Context context(test_comm());
  const Graph graph = grid(120, 110);
  std::vector<idx_t> offsets(graph.offsets.begin(), graph.offsets.end());
  std::vector<idx_t> neighbours(graph.neighbours.begin(), graph.neighbours.end());
  std::vector<idx_t> theirs(offsets.size() - 1);
  std::vector<idx_t> places(theirs.size());
  auto n = static_cast<idx_t>(theirs.size());
  METIS_NodeND(&n, offsets.data(), neighbours.data(), nullptr, nullptr, theirs.data(), places.data());
  const auto peer = partition::fill_of(graph.view(), std::vector<Vertex>(theirs.begin(), theirs.end()));
  const auto own = partition::fill_of(graph.view(), partition::nested_dissection(context, graph.view(), 1));
  EXPECT_LE(static_cast<double>(own.entries), 1.2 * static_cast<double>(peer.entries));
#else
  GTEST_SKIP() << "METIS was not found: libmetis-dev";
#endif
}

}  // namespace
}  // namespace plait::test
