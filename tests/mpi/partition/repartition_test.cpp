#include "plait/partition/repartition.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"
#include "plait/partition/partition.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "unit/partition/graphs.hpp"

namespace plait::test {
namespace {

using partition::RepartitionOptions;
using ::testing::HasSubstr;

Index naive_moved(const GraphView& graph, std::span<const int> from, std::span<const int> to) {
  Index sum = 0;
  for (std::size_t v = 0; v < from.size(); ++v) {
    if (from[v] != to[v]) sum += graph.vertex_sizes.empty() ? 1 : graph.vertex_sizes[v];
  }
  return sum;
}

TEST(Relabeling, KeepsAsMuchAsTheBestOfAllPermutations) {
  std::mt19937 random(12);  // NOLINT: the same data on all ranks
  for (int round = 0; round < 200; ++round) {
    const int n = static_cast<int>(random() % 30);
    const int parts = 1 + static_cast<int>(random() % 5);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    std::vector<int> from(at(n));
    std::vector<int> to(at(n));
    for (auto* labels : {&from, &to}) {
      for (int& p : *labels) p = static_cast<int>(random() % static_cast<unsigned>(parts));
    }
    std::vector<int> permutation(at(parts));
    std::iota(permutation.begin(), permutation.end(), 0);
    Index least = naive_moved(graph.view(), from, to);
    do {
      std::vector<int> other;
      for (const int p : to) other.push_back(permutation[at(p)]);
      least = std::min(least, naive_moved(graph.view(), from, other));
    } while (std::ranges::next_permutation(permutation).found);
    partition::relabel(graph.view(), from, parts, to);
    ASSERT_EQ(naive_moved(graph.view(), from, to), least) << round;
  }
}

TEST(Repartition, OfAHotSpotMovesLittleForAGoodCut) {
  mpi::Context context(test_comm());
  mpi::Context alone(MPI_COMM_SELF);
  Graph graph = grid(64, 64);
  const auto old = partition::partition(context, graph.view(), {}, {16, .03, partition::Method::best, 1});
  for (int v = 0; v < 64 * 64; ++v) graph.vertex_weights.push_back(v % 64 < 20 && v / 64 < 20 ? 5 : 1);
  const RepartitionOptions options{16, .03, 1, 2};
  const auto result = partition::repartition(context, graph.view(), {}, old.part, options);
  EXPECT_EQ(result.part, partition::repartition(alone, graph.view(), {}, old.part, options).part);
  EXPECT_EQ(result.way.cut, naive_cut(graph.view(), result.part));
  EXPECT_EQ(result.way.moved, naive_moved(graph.view(), old.part, result.part));
  const Index most = partition::most_weight_of(graph.view().total_weight(), 16, .03);
  EXPECT_LE(std::ranges::max(naive_weights(graph.view(), result.part, 16)), most);
  for (std::size_t i = 1; i < result.front.size(); ++i) {
    EXPECT_GT(result.front[i].moved, result.front[i - 1].moved);
    EXPECT_LT(result.front[i].cut, result.front[i - 1].cut);
  }
  EXPECT_EQ(result.way.cut, result.front.back().cut);
  const auto& least = result.front.front();
  EXPECT_LT(least.moved, 64 * 64 / 2);
  // What may move bounds what does.
  const double share = static_cast<double>(least.moved) / (64 * 64);
  const auto bounded = partition::repartition(context, graph.view(), {}, old.part, {16, .03, share, 2});
  EXPECT_EQ(bounded.way.moved, least.moved);
  EXPECT_EQ(naive_moved(graph.view(), old.part, bounded.part), least.moved);
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { return partition::repartition(context, graph.view(), {}, old.part, {16, .03, 0, 2}); }),
              HasSubstr("no way was found that moves at most 0 % of the data"));
}

TEST(Repartition, OfBalancedPartsNeedNotMoveAnything) {
  mpi::Context context(test_comm());
  const Graph graph = grid(16, 16);
  std::vector<int> old(256);
  for (std::size_t v = 0; v < old.size(); ++v) old[v] = static_cast<int>(v / 128 * 2 + v % 16 / 8);
  const auto result = partition::repartition(context, graph.view(), {}, old, {4, .03, 0, 1});
  EXPECT_EQ(result.part, old);
}

TEST(Repartition, OfPoorPartsMovesHardlyMoreThanBalanceTakes) {
  mpi::Context context(test_comm());
  const Graph graph = grid(20, 20);
  std::vector<int> old(400);
  for (int v = 0; v < 400; ++v) old[at(v)] = v * 7 % 4;  // of 100 vertices each, scattered
  const auto kept = partition::repartition(context, graph.view(), {}, old, {4, .03, 0, 0});
  EXPECT_EQ(kept.part, old);
  for (int v = 0, given = 0; given < 8; ++v) {
    if (old[at(v)] == 1) old[at(v)] = 0, ++given;
  }
  const auto balanced = partition::repartition(context, graph.view(), {}, old, {4, .03, .02, 0});
  EXPECT_LE(balanced.way.moved, 8);  // 5 take a part from 108 to 103, which is allowed
}

TEST(Repartition, DissolvesTheLastPartsWhereThereAreToBeFewer) {
  mpi::Context context(test_comm());
  mpi::Context alone(MPI_COMM_SELF);
  const Graph graph = grid(48, 48);
  const auto old = partition::partition(context, graph.view(), {}, {8, .03, partition::Method::best, 1}).part;
  const auto result = partition::repartition(context, graph.view(), {}, old, {6, .03, 1, 1});
  EXPECT_EQ(result.part, partition::repartition(alone, graph.view(), {}, old, {6, .03, 1, 1}).part);
  EXPECT_TRUE(all_parts_have_vertices(result.part, 6));
  EXPECT_LE(std::ranges::max(naive_weights(graph.view(), result.part, 6)),
            partition::most_weight_of(graph.view().total_weight(), 6, .03));
  EXPECT_EQ(result.way.moved, naive_moved(graph.view(), old, result.part));
  // Those of two parts have to move, and not many more.
  const Index gone = std::ranges::count_if(old, [](int p) { return p >= 6; });
  EXPECT_GE(result.front.front().moved, gone);
  EXPECT_LE(result.front.front().moved, gone + 48 * 48 / 10);
}

TEST(Repartition, IsWholeForAnyGraphAndMoreOrFewerParts) {
  mpi::Context context(test_comm());
  std::mt19937 random(13);  // NOLINT: the same data on all ranks
  for (int round = 0; round < 60; ++round) {
    const int n = 4 + static_cast<int>(random() % 60);
    const int parts = 1 + static_cast<int>(random() % 4);
    const Graph graph = random_graph(random, n, false);
    std::vector<int> old(at(n));
    const int most = std::min(n, parts + 3);
    for (int& p : old) p = static_cast<int>(random() % static_cast<unsigned>(most));
    const auto result = partition::repartition(context, graph.view(), {}, old, {parts, .1, 1, 1});
    ASSERT_TRUE(all_parts_have_vertices(result.part, parts));
    ASSERT_LE(std::ranges::max(naive_weights(graph.view(), result.part, parts)),
              partition::most_weight_of(n, parts, .1));
    ASSERT_EQ(result.way.cut, naive_cut(graph.view(), result.part));
    ASSERT_EQ(result.way.moved, naive_moved(graph.view(), old, result.part));
  }
  const Graph graph = grid(3, 1);
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { return partition::repartition(context, graph.view(), {}, std::vector<int>{0, 3, 1}, {2}); }),
              HasSubstr("vertex 1 was in part 3; expected 0 to 2"));
}

}  // namespace
}  // namespace plait::test
