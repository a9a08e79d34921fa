#include "plait/layout/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Layout, GivesEachRankOfAGridItsScalapackArray) {
  const Layout layout = Layout::block_cyclic({10, 7}, 3, 2, Owners::grid(2, 2));
  EXPECT_EQ(layout.shape(), (Shape{10, 7}));
  EXPECT_EQ(layout.ranks(), 4);
  EXPECT_EQ(layout.storage(), StorageOrder::column_major);
  EXPECT_THAT(layout.tiles_of(0), ElementsAre(TileExtent{{0, 0}, 6, 4}));
  EXPECT_THAT(layout.tiles_of(1), ElementsAre(TileExtent{{0, 1}, 6, 3}));
  EXPECT_THAT(layout.tiles_of(2), ElementsAre(TileExtent{{1, 0}, 4, 4}));
  EXPECT_THAT(layout.tiles_of(3), ElementsAre(TileExtent{{1, 1}, 4, 3}));
  EXPECT_EQ(layout.owner_of(9, 2), 3);
  EXPECT_EQ(layout.elements_of(3), 12);
}

TEST(Layout, BeginsToDealBlocksAtTheFirstParts) {
  const Layout layout = Layout::block_cyclic({10, 7}, 3, 2, Owners::grid(2, 2, GridOrder::column), 1, 1);
  EXPECT_EQ(layout.owner_of(0, 0), 3);
  EXPECT_EQ(layout.owner_of(3, 0), 2);
  EXPECT_EQ(layout.owner_of(0, 2), 1);
}

TEST(Layout, GivesWholeRowsAndWholeColumns) {
  const Layout rows = Layout::rows({10, 4}, 3);
  EXPECT_THAT(rows.tiles_of(0), ElementsAre(TileExtent{{0, 0}, 4, 4}));
  EXPECT_THAT(rows.tiles_of(2), ElementsAre(TileExtent{{2, 0}, 3, 4}));
  EXPECT_EQ(rows.storage(), StorageOrder::row_major);
  const Layout columns = Layout::columns({10, 4}, 3);
  EXPECT_THAT(columns.tiles_of(0), ElementsAre(TileExtent{{0, 0}, 10, 2}));
  EXPECT_THAT(columns.tiles_of(2), ElementsAre(TileExtent{{0, 2}, 10, 1}));
  EXPECT_EQ(columns.storage(), StorageOrder::column_major);
}

TEST(Layout, ListsTilesWithoutElements) {
  EXPECT_THAT(Layout::rows({2, 4}, 3).tiles_of(2), ElementsAre(TileExtent{{2, 0}, 0, 4}));
  EXPECT_THAT(Layout::rows({2, 4}, 3).tiles_of(3), IsEmpty());
  EXPECT_EQ(Layout::rows({2, 4}, 3).elements_of(2), 0);
  EXPECT_THAT(Layout::blocks({0, 0}, 1, 1).tiles_of(0), ElementsAre(TileExtent{{0, 0}, 0, 0}));
}

TEST(Layout, GivesARankAnyTilesOfACustomTiling) {
  const Layout layout = Layout::custom({0, 2, 5}, {0, 1, 4, 8}, {0, 5, 0, 5, 2, 0}, StorageOrder::row_major);
  EXPECT_EQ(layout.shape(), (Shape{5, 8}));
  EXPECT_EQ(layout.ranks(), 6);
  EXPECT_THAT(layout.tiles_of(0),
              ElementsAre(TileExtent{{0, 0}, 2, 1}, TileExtent{{0, 2}, 2, 4}, TileExtent{{1, 2}, 3, 4}));
  EXPECT_EQ(layout.elements_of(0), 22);
  EXPECT_EQ(layout.owner_of(4, 1), 2);
  EXPECT_THAT(layout.tiles_of(1), IsEmpty());
}

TEST(Layout, OfASubmatrixKeepsOwners) {
  const Layout whole = Layout::block_cyclic({20, 30}, 3, 4, Owners::grid(2, 3), 1, 2);
  const Layout part = whole.submatrix(5, 7, {11, 13});
  EXPECT_EQ(part.shape(), (Shape{11, 13}));
  for (Index i = 0; i < 11; ++i) {
    for (Index j = 0; j < 13; ++j) EXPECT_EQ(part.owner_of(i, j), whole.owner_of(i + 5, j + 7));
  }
  EXPECT_EQ(whole.submatrix(0, 0, {20, 30}), whole);
  EXPECT_EQ(whole.submatrix(20, 30, {0, 0}).shape(), (Shape{0, 0}));
}

TEST(Layout, OfTheTransposeOwnsElementsTheOtherWayRound) {
  const Layout layout = Layout::block_cyclic({20, 30}, 3, 4, Owners::grid(2, 3), 1, 2);
  const Layout transposed = layout.transposed();
  EXPECT_EQ(transposed.shape(), (Shape{30, 20}));
  EXPECT_EQ(transposed.storage(), StorageOrder::row_major);
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 30; ++j) EXPECT_EQ(transposed.owner_of(j, i), layout.owner_of(i, j));
  }
  EXPECT_EQ(transposed.transposed(), layout);
}

TEST(Layout, IsEqualToOneThatWasMadeAlike) {
  const Layout layout = Layout::blocks({20, 30}, 2, 3);
  EXPECT_EQ(layout, Layout::blocks({20, 30}, 2, 3));
  EXPECT_NE(layout, Layout::blocks({20, 31}, 2, 3));
  EXPECT_NE(layout, Layout::blocks({20, 30}, 2, 3, GridOrder::column));
  EXPECT_NE(layout, Layout::blocks({20, 30}, 2, 3, GridOrder::row, StorageOrder::row_major));
}

TEST(Layout, RefusesWhatCannotBeAndNamesIt) {
  EXPECT_THAT(test::message_of<LayoutError>([] { return Layout::block_cyclic({-1, 2}, 1, 1, Owners::grid(1, 1)); }),
              HasSubstr("the rows of the layout: the extent is -1"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Layout::block_cyclic({1, 2}, 1, 0, Owners::grid(1, 1)); }),
              HasSubstr("the columns of the layout: the block is 0"));
  EXPECT_THAT(
      test::message_of<LayoutError>([] { return Layout::block_cyclic({1, 2}, 1, 1, Owners::grid(2, 2), 0, 2); }),
      HasSubstr("the columns of the layout: the part of the first block is 2"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Layout::rows({1, 2}, 0); }),
              HasSubstr("the rows of the layout: the number of parts is 0"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Layout::custom({0, 2}, {0, 3, 1}, {0, 0}); }),
              HasSubstr("the columns of the layout: split 2 is 1, expected at least split 1, which is 3"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Layout::custom({0, 2}, {0, 3}, {0, 0}); }),
              HasSubstr("2 ranks are listed for 1 x 1 positions"));
  EXPECT_THAT(test::message_of<LayoutError>([] {
                return Layout(Axis::even(5, 2), Axis::even(5, 2), Owners::grid(2, 3), StorageOrder::row_major);
              }),
              HasSubstr("the axes have 2 x 2 parts and the owners 2 x 3 positions, expected the same"));
  EXPECT_THAT(
      test::message_of<LayoutError>([] { return Layout::rows({Index{1} << 40, Index{1} << 40}, 2).elements_of(0); }),
      HasSubstr("more than"));
}

TEST(Layout, RefusesASubmatrixThatReachesOutside) {
  const Layout layout = Layout::rows({10, 20}, 2);
  const auto refused = HasSubstr("expected one inside of 10 x 20");
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return layout.submatrix(5, 0, {6, 1}); }), refused);
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return layout.submatrix(0, 20, {1, 1}); }), refused);
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return layout.submatrix(-1, 0, {1, 1}); }), refused);
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return layout.submatrix(0, 0, {-1, 1}); }), refused);
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return layout.submatrix(0, 21, {0, 0}); }), refused);
}

TEST(Shape, IsWrittenAsRowsByColumns) {
  EXPECT_EQ(to_string(Shape{100, 50}), "100 x 50");
  EXPECT_EQ((Shape{100, 50}.transposed()), (Shape{50, 100}));
}

}  // namespace
}  // namespace plait::layout
