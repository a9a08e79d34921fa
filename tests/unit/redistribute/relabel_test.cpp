#include "plait/redistribute/relabel/relabel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/layout/text.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/packages/packages.hpp"

#include "support/message_of.hpp"
#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::redistribute {
namespace {

using layout::GridOrder;
using layout::Layout;
using layout::Owners;
using layout::Shape;
using test::Random;
using test::random_layout;
using test::uniform;
using ::testing::HasSubstr;

// The remote volume that relabeling removes, in percent, to the hundredth.
double removed_percent(const SizedPair& pair, int ranks) {
  const Relabeling relabeling = relabel({&pair, 1}, ranks);
  Incoming incoming({&pair, 1});
  const Index before = communication_volume(incoming).bytes;
  const Index after = communication_volume(incoming, relabeling.rank_of).bytes;
  EXPECT_EQ(before, relabeling.cost_before);
  EXPECT_EQ(after, relabeling.cost_after);
  return std::round(1e4 * static_cast<double>(before - after) / static_cast<double>(before)) / 100;
}

SizedPair reordered_grid(Index extent, Index rows, Index columns, Index source_block, Index target_block) {
  return {{Layout::block_cyclic({extent, extent}, source_block, source_block, Owners::grid(rows, columns)),
           Layout::block_cyclic({extent, extent}, target_block, target_block,
                                Owners::grid(rows, columns, GridOrder::column))}};
}

// The paper's Figure 3: 10^5 squared on 10 x 10, ranks by rows to ranks by columns, blocks of 10^4 in the target.
TEST(Relabeling, RemovesWhatTheFigureOfThePaperShows) {
  const std::map<Index, double> exact{{500, 0},      {1000, 0},     {2000, 2.99}, {2500, 5.06},
                                      {4000, 11.17}, {5000, 24.24}, {7500, 39.3}, {9000, 41.6},
                                      {9500, 49.8},  {9900, 88.3},  {10000, 100}};
  for (const auto& [block, percent] : exact) {
    const double digits = block < 7500 ? 0.005 : 0.05;
    EXPECT_NEAR(removed_percent(reordered_grid(100000, 10, 10, block, 10000), 100), percent, digits) << block;
  }
}

TEST(Relabeling, UndoesARenumberedGrid) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{2, 4}, {4, 8}, {8, 16}, {16, 32}, {32, 64}}) {
    const int ranks = static_cast<int>(rows * columns);
    EXPECT_EQ(removed_percent(reordered_grid(20000, rows, columns, 100, 100), ranks), 100) << ranks;
  }
}

/// Splits the longer extent in halves, and the ranks with it, as COSMA and CARMA do.
Layout recursively_split(Shape shape, int ranks) {
  Index row_parts = 1;
  Index column_parts = 1;
  while (row_parts * column_parts < ranks) {
    (shape.rows * column_parts >= shape.columns * row_parts ? row_parts : column_parts) *= 2;
  }
  return Layout::blocks(shape, row_parts, column_parts, GridOrder::column, StorageOrder::row_major);
}

// A^T B of tall and skinny A and B, as in the random phase approximation, with C on fewer ranks.
TEST(Relabeling, SavesVolumeBetweenBlockCyclicAndRecursivelySplitTallMatrices) {
  const Shape tall{262144, 512};
  constexpr int ranks = 64;
  const Layout dealt = Layout::block_cyclic(tall, 128, 128, Owners::grid(8, 8));
  const std::vector<SizedPair> batch{
      {{dealt, recursively_split(tall.transposed(), ranks), Op::transpose}},
      {{dealt, recursively_split(tall, ranks)}},
      {{recursively_split({512, 512}, 16), Layout::block_cyclic({512, 512}, 128, 128, Owners::grid(4, 4))}}};
  const Relabeling relabeling = relabel(batch, ranks);
  EXPECT_LT(relabeling.cost_after, relabeling.cost_before);
  EXPECT_GT(relabeling.cost_after, 0);
}

TEST(CommunicationVolume, IsThatOfEveryElement) {
  Random random(12);
  constexpr int ranks = 7;
  std::vector<int> rank_of(ranks);
  std::iota(rank_of.begin(), rank_of.end(), 0);
  for (int round = 0; round < 300; ++round) {
    const Shape shape{uniform(random, 0, 60), uniform(random, 0, 40)};
    const Op op = uniform(random, 0, 1) == 0 ? Op::identity : Op::transpose;
    const SizedPair pair{{random_layout(random, shape, ranks), random_layout(random, apply(op, shape), ranks), op}, 4};
    if (round % 3 != 0) std::shuffle(rank_of.begin(), rank_of.end(), random);
    SCOPED_TRACE(layout::describe(pair.pair.from) + " to " + layout::describe(pair.pair.to));
    std::map<std::pair<int, int>, Index> bytes;
    for (Index i = 0; i < pair.pair.to.shape().rows; ++i) {
      for (Index j = 0; j < pair.pair.to.shape().columns; ++j) {
        const int sender = transposes(op) ? pair.pair.from.owner_of(j, i) : pair.pair.from.owner_of(i, j);
        const int receiver = rank_of[static_cast<std::size_t>(pair.pair.to.owner_of(i, j))];
        if (sender != receiver) bytes[{sender, receiver}] += 4;
      }
    }
    std::map<int, Index> sent, received;
    CommunicationVolume expected;
    for (const auto& [ends, volume] : bytes) {
      ++expected.messages;
      expected.bytes += volume;
      expected.largest_rank_bytes =
          std::max({expected.largest_rank_bytes, sent[ends.first] += volume, received[ends.second] += volume});
    }
    Incoming incoming({&pair, 1});
    const CommunicationVolume volume = communication_volume(incoming, rank_of);
    ASSERT_EQ(volume.messages, expected.messages);
    ASSERT_EQ(volume.bytes, expected.bytes);
    ASSERT_EQ(volume.largest_rank_bytes, expected.largest_rank_bytes);
  }
}

// Σ w(i, σ(j), S_ij) from the packages of every rank, written down as in the definition.
Index cost_by_definition(std::span<const SizedPair> pairs, std::span<const int> rank_of, const PackageCost& cost) {
  Index sum = 0;
  for (int role = 0; role < static_cast<int>(rank_of.size()); ++role) {
    std::map<int, PackageContent> contents;
    std::map<int, std::vector<PackageTile>> tiles;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Packages packages(pairs[i].pair.op_from(), pairs[i].pair.to, role);
      const auto add = [&](const Package& package) {
        for (const Panel& panel : package.panels) {
          const Index bytes = panel.rows->length * panel.columns->length * pairs[i].element_bytes;
          contents[package.peer].bytes += bytes;
          contents[package.peer].transformed_bytes += pairs[i].transforms ? bytes : 0;
          tiles[package.peer].push_back({i, panel.source_position, panel.target_position, panel.rows->length,
                                         panel.columns->length, bytes, pairs[i].transforms});
        }
      };
      for (const Package& package : packages.incoming()) add(package);
      add(packages.own());
    }
    for (auto& [from, content] : contents) {
      content.tiles = tiles[from];
      sum += cost.cost(from, rank_of[static_cast<std::size_t>(role)], content);
    }
  }
  return sum;
}

std::vector<SizedPair> random_batch(Random& random, int ranks, Index most_pairs) {
  std::vector<SizedPair> pairs;
  const Index count = uniform(random, 1, most_pairs);
  for (Index i = 0; i < count; ++i) {
    const Op op = uniform(random, 0, 1) == 0 ? Op::identity : Op::transpose;
    const Shape shape{uniform(random, 0, 40), uniform(random, 0, 40)};
    pairs.push_back({{random_layout(random, shape, ranks), random_layout(random, apply(op, shape), ranks), op},
                     uniform(random, 1, 16)});
  }
  return pairs;
}

// Tiles of odd columns are dear, and rank 1 is slow.
Index odd_cost(int from, int to, const PackageContent& package) {
  Index sum = from == to ? 0 : 5;
  for (const PackageTile& tile : package.tiles) sum += tile.bytes * (1 + tile.source.column % 2) * (from == to ? 1 : 3);
  return to == 1 ? 2 * sum : sum;
}

TEST(Relabeling, CostsLeastOfAllPermutationsWhateverTheCost) {
  Random random(2);
  const LinkCost links([](int from, int to) {
    return LinkCost::Link{1e-6 * (1 + (from + 2 * to) % 5), 1e9 / (1 + (3 * from + to) % 4)};
  });
  for (int round = 0; round < 60; ++round) {
    const int ranks = static_cast<int>(uniform(random, 1, 6));
    const std::vector<SizedPair> batch = random_batch(random, ranks, 3);
    const NodeCost nodes({7, 7, -1, 7, -1, 3}, 1, 4);
    const CustomCost custom(odd_cost);
    const VolumeCost volume;
    const VolumeCost with_transformation(2);
    int number = 0;
    for (const PackageCost* cost :
         {static_cast<const PackageCost*>(&volume), static_cast<const PackageCost*>(&with_transformation),
          static_cast<const PackageCost*>(&nodes), static_cast<const PackageCost*>(&links),
          static_cast<const PackageCost*>(&custom)}) {
      SCOPED_TRACE(testing::Message() << "round " << round << " cost " << number++);
      std::vector<int> permutation(static_cast<std::size_t>(ranks));
      std::iota(permutation.begin(), permutation.end(), 0);
      const Index own = cost_by_definition(batch, permutation, *cost);
      Index least = std::numeric_limits<Index>::max();
      do {
        least = std::min(least, cost_by_definition(batch, permutation, *cost));
      } while (std::next_permutation(permutation.begin(), permutation.end()));

      const Relabeling relabeling = relabel(batch, ranks, *cost);
      EXPECT_EQ(relabeling.cost_before, own);
      EXPECT_EQ(relabeling.cost_after, least);
      EXPECT_EQ(cost_by_definition(batch, relabeling.rank_of, *cost), least);
      EXPECT_TRUE(std::is_permutation(permutation.begin(), permutation.end(), relabeling.rank_of.begin()));
    }
  }
}

TEST(Relabeling, OfTheLayoutMovesWhatItPromises) {
  Random random(4);
  for (int round = 0; round < 40; ++round) {
    const std::vector<SizedPair> batch = random_batch(random, 12, 2);
    const Relabeling relabeling = relabel(batch, 12);
    Index moved = 0;
    for (const SizedPair& sized : batch) {
      const Layout to = sized.pair.to.relabeled(relabeling.rank_of);
      for (int rank = 0; rank < 12; ++rank) {
        const Packages packages(sized.pair.op_from(), to, rank);
        for (const Package& package : packages.incoming()) moved += package.elements * sized.element_bytes;
      }
    }
    EXPECT_EQ(moved, relabeling.cost_after);
  }
}

TEST(Relabeling, KeepsEveryRankInItsRoleWhereNothingIsGained) {
  const SizedPair pair = reordered_grid(1280, 4, 4, 10, 320);
  std::vector<int> own(20);
  std::iota(own.begin(), own.end(), 0);
  EXPECT_EQ(relabel({&pair, 1}, 20).rank_of, own);
  EXPECT_EQ(relabel({}, 20).rank_of, own);
}

TEST(Relabeling, MayUseRanksWithoutAPartInTheTarget) {
  const SizedPair pair{{Layout::rows({30, 2}, 4), Layout::rows({30, 2}, 2)}, 1};
  const SizedPair moved{{Layout::block_cyclic({30, 2}, 15, 2, Owners::listed(2, 1, {5, 3})), pair.pair.to}, 1};
  const Relabeling relabeling = relabel({&moved, 1}, 6);
  EXPECT_EQ(relabeling.cost_after, 0);
  EXPECT_EQ(relabeling.rank_of[0], 5);
  EXPECT_EQ(relabeling.rank_of[1], 3);
}

TEST(Relabeling, ThatCannotBeNamesWhatIsWrong) {
  const SizedPair pair{{Layout::rows({30, 2}, 4), Layout::rows({30, 2}, 2)}};
  EXPECT_THAT(test::message_of<LayoutError>([&] { return relabel({&pair, 1}, 3); }),
              HasSubstr("needs 4 ranks, there are 3"));
  const SizedPair large{{Layout::rows({Index{1} << 60, 2}, 4), Layout::rows({Index{1} << 60, 2}, 2)}, 8};
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return relabel({&large, 1}, 4); }), HasSubstr("at most 2^62"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return relabel({&pair, 1}, 4, NodeCost({0, 0}, 1, 2)); }),
              HasSubstr("nodes of 2 ranks"));
  const SizedPair turned{{Layout::rows({8, 8}, 8), Layout::columns({8, 8}, 8)}, 1};
  EXPECT_THAT(test::message_of<ArgumentError>(
                  [&] { return relabel({&turned, 1}, 8, NodeCost(std::vector<int>(8, 0), 1, (Index{1} << 61) - 1)); }),
              HasSubstr("expected at most 2^62"));
  EXPECT_THAT(test::message_of<ArgumentError>([] { NodeCost({0, 0}, 3, 2); }), HasSubstr("in_node is 3"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] {
                return relabel({&pair, 1}, 4, CustomCost([](int, int, const PackageContent&) { return Index{-1}; }));
              }),
              HasSubstr("is -1, expected at least 0"));
}

}  // namespace
}  // namespace plait::redistribute
