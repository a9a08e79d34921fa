#include "plait/partition/order.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#ifdef PLAIT_HAS_METIS
#include <metis.h>
#endif

#include "plait/mpi/collectives.hpp"

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
  const Graph graph = grid(50, 40);
  EXPECT_EQ(partition::nested_dissection(context, graph.view(), 3),
            partition::nested_dissection(alone, graph.view(), 3));
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
  EXPECT_LE(static_cast<double>(own.entries), 1.3 * static_cast<double>(peer.entries));
#else
  GTEST_SKIP() << "METIS was not found: libmetis-dev";
#endif
}

}  // namespace
}  // namespace plait::test
