#include "plait/partition/partition.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node_copy.hpp"
#include "plait/partition/order.hpp"
#include "plait/partition/quality.hpp"
#include "plait/partition/repartition.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "unit/partition/graphs.hpp"

namespace plait::test {
namespace {

using partition::Method;
using partition::Options;
using partition::Points;
using ::testing::HasSubstr;

std::vector<double> grid_points(int columns, int rows) {
  std::vector<double> points;
  for (int v = 0; v < columns * rows; ++v) points.insert(points.end(), {double(v % columns), double(v / columns)});
  return points;
}

Index hash_of(const std::vector<int>& part) {
  std::uint64_t hash = 0;
  for (const int p : part) hash = hash * 1'000'003 + static_cast<std::uint64_t>(p);
  return static_cast<Index>(hash >> 1U);
}

/// Balanced, with no part empty, and with the cut that it says; the same on all ranks.
void expect_whole(mpi::Context& context, const GraphView& graph, const partition::Partition& result,
                  const Options& options) {
  ASSERT_EQ(static_cast<Index>(result.part.size()), graph.vertices());
  EXPECT_EQ(result.cut, naive_cut(graph, result.part));
  EXPECT_TRUE(all_parts_have_vertices(result.part, options.parts));
  const Index most = partition::most_weight_of(graph.total_weight(), options.parts, options.imbalance);
  for (const Index weight : naive_weights(graph, result.part, options.parts)) EXPECT_LE(weight, most);
  EXPECT_EQ(mpi::all_reduce(context.comm(), hash_of(result.part), mpi::Operation::maximum()), hash_of(result.part));
}

TEST(Partition, OfAGridIsNearlyAsGoodAsSquaresAndAsSquaresWithPoints) {
  mpi::Context context(test_comm());
  const Graph graph = grid(64, 64);
  const auto points = grid_points(64, 64);
  for (const Method method : {Method::best, Method::multilevel, Method::levels, Method::kl, Method::orb,
                              Method::inertial, Method::hilbert, Method::morton}) {
    const Options options{16, .03, method, 1};
    const auto result = partition::partition(context, graph.view(), {points, 2}, options);
    expect_whole(context, graph.view(), result, options);
    EXPECT_LE(result.cut, method == Method::best || method == Method::orb ? 384 : 600) << name(method);
  }
  const auto blind = partition::partition(context, graph.view(), {}, {16, .03, Method::best, 1});
  EXPECT_LE(blind.cut, 500);
}

TEST(Partition, OfALargerGridIsWithinATwentiethOfSquaresWithoutPoints) {
  mpi::Context context(test_comm());
  const Graph graph = grid(500, 500);
  const Options options{64, .03, Method::multilevel, 1};
  const auto result = partition::partition(context, graph.view(), {}, options);
  expect_whole(context, graph.view(), result, options);
  EXPECT_LE(result.cut, 7350);
}

TEST(Partition, ByTheBestMethodCutsNoMoreThanByAnyOther) {
  mpi::Context context(test_comm());
  for (const auto& [columns, rows, parts] : {std::tuple(22, 23, 5), std::tuple(72, 7, 6), std::tuple(16, 16, 2)}) {
    const Graph graph = grid(columns, rows);
    const auto points = grid_points(columns, rows);
    const auto best = partition::partition(context, graph.view(), {points, 2}, {parts});
    for (const Method method : {Method::multilevel, Method::spectral, Method::levels, Method::kl, Method::orb,
                                Method::inertial, Method::hilbert, Method::morton}) {
      const auto one = partition::partition(context, graph.view(), {points, 2}, {parts, .03, method});
      EXPECT_LE(best.cut, one.cut) << name(method);
    }
  }
}

TEST(Partition, IsTheSameForAnyNumberOfRanks) {
  mpi::Context context(test_comm());
  mpi::Context alone(MPI_COMM_SELF);
  const Graph graph = grid(50, 37);
  const auto points = grid_points(50, 37);
  for (const Method method : {Method::best, Method::multilevel}) {
    const Options options{7, .03, method, 3};
    const auto together = partition::partition(context, graph.view(), {points, 2}, options);
    const auto by_one = partition::partition(alone, graph.view(), {points, 2}, options);
    EXPECT_EQ(together.part, by_one.part);
    EXPECT_EQ(together.start, by_one.start);
  }
}

/// One rank, all of them, and groups of three and what is left of them.
TEST(Partition, OfAnyGraphIsTheSameForAnyNumberOfRanks) {
  mpi::Context context(test_comm());
  mpi::Context alone(MPI_COMM_SELF);
  const mpi::Communicator group = context.comm().split(rank() / 3, rank());
  mpi::Context some(group.handle());
  std::mt19937 random(15);  // NOLINT: the same data on all ranks
  int found = 0;
  for (int round = 0; round < 12; ++round) {
    const int n = 20 + static_cast<int>(random() % 1000);
    Graph graph = random_graph(random, n, round % 2 == 0);  // of hubs, and with isolated vertices
    if (round % 4 == 0) {                                   // as large as weights may be
      for (Index& weight : graph.vertex_weights) weight *= graph::most_weight / 5 / n;
      for (Index& weight : graph.edge_weights) weight *= graph::most_weight / 9 / graph.edge_weights.count();
    }
    const Options options{2 + round % 9, .05, Method::multilevel, static_cast<std::uint64_t>(round)};
    const auto part = [&](mpi::Context& ranks) -> std::vector<int> {
      try {
        return partition::partition(ranks, graph.view(), {}, options).part;
      } catch (const ArgumentError&) {
        return {};
      }
    };
    const auto by_one = part(alone);
    EXPECT_EQ(part(context), by_one) << round;
    EXPECT_EQ(part(some), by_one) << round;
    found += by_one.empty() ? 0 : 1;
  }
  EXPECT_GE(found, 10);
}

TEST(Partition, IsWholeOrRefusedForAnyGraphWeightsAndParts) {
  mpi::Context context(test_comm());
  std::mt19937 random(11);  // NOLINT: the same data on all ranks
  int found = 0;
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random() % 60);
    const Graph graph = random_graph(random, n, round % 2 == 0);
    const int parts = 1 + static_cast<int>(random() % static_cast<unsigned>(n));
    std::vector<double> points;
    for (int i = 0; i < 2 * n; ++i) points.push_back(static_cast<double>(random() % 8));
    const auto method = std::array{Method::best, Method::levels, Method::kl}[at(round / 6 % 3)];
    const Options options{parts, .01 * static_cast<double>(random() % 20), method, static_cast<std::uint64_t>(round)};
    try {
      const auto result =
          partition::partition(context, graph.view(), round % 3 == 0 ? Points{points, 2} : Points{}, options);
      expect_whole(context, graph.view(), result, options);
      ++found;
    } catch (const ArgumentError&) {
      // With weights of 1, none to 4 there is not always room; with equal weights there is.
      EXPECT_EQ(round % 2, 0) << round;
    }
  }
  EXPECT_GT(found, 200);
}

TEST(Partition, TakesWhatCrashesOthers) {
  mpi::Context context(test_comm());
  const Graph path = grid(9, 1);
  for (const int parts : {1, 2, 8, 9}) {
    const Options options{parts};
    expect_whole(context, path.view(), partition::partition(context, path.view(), {}, options), options);
  }
  // Nothing but isolated vertices; no vertex weighs anything; one vertex.
  const Graph isolated = graph::graph_of_pairs(1000, {});
  const Options many{333};
  expect_whole(context, isolated.view(), partition::partition(context, isolated.view(), {}, many), many);
  Graph weightless = grid(10, 10);
  weightless.vertex_weights = Vector<Index>(Index{100}, 0);
  const Options five{5};
  expect_whole(context, weightless.view(), partition::partition(context, weightless.view(), {}, five), five);
  const Graph one = graph::graph_of_pairs(1, {});
  EXPECT_EQ(partition::partition(context, one.view(), {}, {1}).part, std::vector<int>{0});
  // Weights as large as they may be.
  Graph heavy = grid(4, 1);
  heavy.vertex_weights = Vector<Index>(Index{4}, Index{1} << 60);
  heavy.edge_weights = Vector<Index>(Index{6}, Index{1} << 59);
  const Options halves{2, 0};
  const auto result = partition::partition(context, heavy.view(), {}, halves);
  expect_whole(context, heavy.view(), result, halves);
  EXPECT_EQ(result.cut, Index{1} << 59);
  // A star, of which all parts but one have no neighbour of their own.
  std::vector<std::pair<Vertex, Vertex>> pairs;
  for (Vertex v = 1; v < 500; ++v) pairs.emplace_back(0, v);
  const Graph star = graph::graph_of_pairs(500, pairs);
  const Options ten{10};
  expect_whole(context, star.view(), partition::partition(context, star.view(), {}, ten), ten);
}

TEST(Partition, SaysWhyThereIsNone) {
  mpi::Context context(test_comm());
  const Graph path = grid(5, 1);
  const auto refusal = [&](const Graph& graph, const Options& options, const std::string& words) {
    EXPECT_THAT(message_of<ArgumentError>([&] { return partition::partition(context, graph.view(), {}, options); }),
                HasSubstr(words));
  };
  refusal(path, {6}, "6 parts of 5 vertices: at least 1 of them would be empty");
  refusal(path, {0}, "0 parts; expected 1 at least");
  refusal(path, {2, -.1}, "an imbalance of -0.1; expected 0 at least");
  refusal(path, {2, .1, Method::orb}, "the method orb needs points");
  refusal(graph::graph_of_pairs(0, {}), {1}, "1 parts of 0 vertices");
  Graph heavy = path;
  heavy.vertex_weights = {1, 1, 10, 1, 1};
  refusal(heavy, {2}, "vertex 2 (counted from 0) weighs 10, more than the 7 that one of 2 parts may weigh");
  Graph odd = path;
  odd.vertex_weights = {3, 3, 3, 3, 3};
  refusal(odd, {2, .05}, "no 2 parts of at most 8 were found, as an imbalance of 0.05 allows");
}

TEST(Partition, HearsOfRanksThatMeanOtherOnes) {
  if (ranks() == 1) return;
  mpi::Context context(test_comm());
  const Graph graph = grid(4, 4);
  const bool is_other = rank() == 1;
  EXPECT_THAT(
      message_of<ArgumentError>([&] { return partition::partition(context, graph.view(), {}, {is_other ? 3 : 2}); }),
      HasSubstr("rank 1: parts: is 3, but 2 on rank 0"));
  EXPECT_THAT(
      message_of<ArgumentError>([&] { return partition::nested_dissection(context, graph.view(), is_other ? 3 : 2); }),
      HasSubstr("rank 1: seed: is 3, but 2 on rank 0"));
  const std::vector<int> old(16);
  EXPECT_THAT(message_of<ArgumentError>([&] {
                return partition::repartition(context, graph.view(), {}, old,
                                              {.parts = 2, .most_moved = is_other ? .3 : .2});
              }),
              HasSubstr("rank 1: share that may move: is 0.3, but 0.2 on rank 0"));
}

TEST(NodeCopy, ShowsAllRanksWhatRankZeroHas) {
  mpi::Context context(test_comm());
  std::vector<Index> numbers;
  std::vector<double> empty;
  std::vector<int> others;
  if (rank() == 0) {
    numbers.resize(100'000);
    std::iota(numbers.begin(), numbers.end(), 5);
    others = {7, 8, 9};
  }
  const auto bytes = [](const auto& vector) { return std::as_bytes(std::span(vector)); };
  const mpi::NodeCopy copy(context, {bytes(numbers), bytes(empty), bytes(others)});
  EXPECT_EQ(copy.piece<Index>(0).size(), 100'000U);
  for (Index i = 0; i < 100'000; i += 999) EXPECT_EQ(copy.piece<Index>(0)[at(i)], i + 5);
  EXPECT_TRUE(copy.piece<double>(1).empty());
  EXPECT_EQ(copy.piece<int>(2)[2], 9);
  mpi::barrier(context.comm());
}

}  // namespace
}  // namespace plait::test
