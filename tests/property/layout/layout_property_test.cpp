#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/text.hpp"

#include "random_axis.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::GridOrder;
using layout::Layout;
using layout::Owners;
using layout::TilePosition;

struct OwnersPair {
  Owners owners;
  std::vector<int> naive;  // row-major over positions
};

OwnersPair random_owners(Dice& dice, Index rows, Index columns) {
  std::vector<int> ranks;
  if (dice.maybe(50)) {
    const Index most = dice.between(0, 12);
    for (Index i = 0; i < rows * columns; ++i) ranks.push_back(static_cast<int>(dice.between(0, most)));
    return {Owners::listed(rows, columns, ranks), ranks};
  }
  const bool by_rows = dice.maybe(50);
  const Index first = dice.between(0, 3);
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < columns; ++column) {
      ranks.push_back(static_cast<int>(first + (by_rows ? row * columns + column : row + column * rows)));
    }
  }
  return {Owners::grid(rows, columns, by_rows ? GridOrder::row : GridOrder::column, static_cast<int>(first)), ranks};
}

TEST(OwnersProperty, EveryRankOwnsWhatTheTableSays) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    const Index rows = dice.between(1, 6);
    const Index columns = dice.between(1, 6);
    const auto [owners, naive] = random_owners(dice, rows, columns);
    ASSERT_EQ(owners.ranks(), *std::ranges::max_element(naive) + 1);
    ASSERT_EQ(owners, Owners::listed(rows, columns, naive));
    ASSERT_EQ(owners.transposed().transposed(), owners);
    for (int rank = -1; rank <= owners.ranks(); ++rank) {
      std::vector<TilePosition> expected;
      for (Index row = 0; row < rows; ++row) {
        for (Index column = 0; column < columns; ++column) {
          ASSERT_EQ(owners.owner(row, column), naive[at(row * columns + column)]);
          ASSERT_EQ(owners.transposed().owner(column, row), owners.owner(row, column));
          if (owners.owner(row, column) == rank) expected.push_back({row, column});
        }
      }
      ASSERT_EQ(owners.owned_by(rank), expected);
    }
  }
}

TEST(LayoutProperty, EveryRankHoldsItsElementsAtTheirPlaces) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    const AxisPair rows = random_axis(dice, dice.between(0, 20));
    const AxisPair columns = random_axis(dice, dice.between(0, 20));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + rows.made + " x " + columns.made);
    const auto [owners, ranks] = random_owners(dice, rows.axis.parts(), columns.axis.parts());
    const StorageOrder storage = dice.maybe(50) ? StorageOrder::row_major : StorageOrder::column_major;
    const Layout layout(rows.axis, columns.axis, owners, storage);

    Index held = 0;
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      DistributedMatrix<Index> matrix(layout, rank);
      Index mine = 0;
      matrix.for_each_element([&](Index row, Index column, Index& value) {
        value = row * 1000 + column;
        ++mine;
      });
      held += mine;
      ASSERT_EQ(mine, layout.elements_of(rank));
      const auto tiles = layout.tiles_of(rank);
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        const auto& view = matrix.const_tiles()[i];
        ASSERT_EQ(view.rows(), rows.naive.extents[at(tiles[i].position.row)]);
        ASSERT_EQ(view.columns(), columns.naive.extents[at(tiles[i].position.column)]);
        for (Index row = 0; row < rows.naive.extent(); ++row) {
          for (Index column = 0; column < columns.naive.extent(); ++column) {
            const TilePosition position{rows.naive.part[at(row)], columns.naive.part[at(column)]};
            if (position != tiles[i].position) continue;
            ASSERT_EQ(layout.owner_of(row, column), rank);
            ASSERT_EQ(view(rows.naive.local[at(row)], columns.naive.local[at(column)]), row * 1000 + column);
          }
        }
      }
    }
    ASSERT_EQ(held, rows.naive.extent() * columns.naive.extent());
    ASSERT_EQ(layout.transposed().transposed(), layout);
  }
}

TEST(LayoutProperty, TheTransposeLivesInTheSameMemory) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const AxisPair rows = random_axis(dice, dice.between(0, 20));
    const AxisPair columns = random_axis(dice, dice.between(0, 20));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + rows.made + " x " + columns.made);
    const Layout layout(rows.axis, columns.axis, random_owners(dice, rows.axis.parts(), columns.axis.parts()).owners,
                        StorageOrder::column_major);
    const Layout transposed = layout.transposed();
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      const auto tiles = layout.tiles_of(rank);
      auto flipped_tiles = transposed.tiles_of(rank);
      ASSERT_EQ(flipped_tiles.size(), tiles.size());
      for (auto& [position, tile_rows, tile_columns] : flipped_tiles) {
        std::swap(position.row, position.column);
        std::swap(tile_rows, tile_columns);
      }
      ASSERT_THAT(flipped_tiles, ::testing::UnorderedElementsAreArray(tiles));
    }
  }
}

}  // namespace
}  // namespace plait::test
