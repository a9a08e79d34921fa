#include "plait/layout/owners.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<int> table(const Owners& owners) {
  std::vector<int> ranks;
  for (Index row = 0; row < owners.rows(); ++row) {
    for (Index column = 0; column < owners.columns(); ++column) ranks.push_back(owners.owner(row, column));
  }
  return ranks;
}

TEST(Owners, NumberAGridAlongItsRows) {
  const Owners owners = Owners::grid(2, 3);
  EXPECT_THAT(table(owners), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(owners.ranks(), 6);
  EXPECT_EQ(owners.distinct(), 6);
  EXPECT_THAT(owners.owned_by(4), ElementsAre(TilePosition{1, 1}));
}

TEST(Owners, NumberAGridDownItsColumns) {
  const Owners owners = Owners::grid(2, 3, GridOrder::column, 10);
  EXPECT_THAT(table(owners), ElementsAre(10, 12, 14, 11, 13, 15));
  EXPECT_EQ(owners.ranks(), 16);
  EXPECT_THAT(owners.owned_by(13), ElementsAre(TilePosition{1, 1}));
  EXPECT_THAT(owners.owned_by(9), IsEmpty());
  EXPECT_THAT(owners.owned_by(16), IsEmpty());
}

TEST(Owners, AreAnyTable) {
  const Owners owners = Owners::listed(2, 3, {7, 2, 7, 9, 2, 7});
  EXPECT_THAT(table(owners), ElementsAre(7, 2, 7, 9, 2, 7));
  EXPECT_EQ(owners.ranks(), 10);
  EXPECT_EQ(owners.distinct(), 3);
  EXPECT_THAT(owners.owned_by(7), ElementsAre(TilePosition{0, 0}, TilePosition{0, 2}, TilePosition{1, 2}));
  EXPECT_THAT(owners.owned_by(2), ElementsAre(TilePosition{0, 1}, TilePosition{1, 1}));
  EXPECT_THAT(owners.owned_by(9), ElementsAre(TilePosition{1, 0}));
  EXPECT_THAT(owners.owned_by(0), IsEmpty());
  EXPECT_THAT(owners.owned_by(-1), IsEmpty());
}

TEST(Owners, RecogniseAGridInATable) {
  EXPECT_TRUE(Owners::listed(2, 2, {3, 4, 5, 6}).is_grid());
  EXPECT_EQ(Owners::listed(2, 2, {3, 4, 5, 6}), Owners::grid(2, 2, GridOrder::row, 3));
  EXPECT_EQ(Owners::listed(2, 2, {0, 2, 1, 3}), Owners::grid(2, 2, GridOrder::column));
  EXPECT_FALSE(Owners::listed(2, 2, {0, 1, 3, 2}).is_grid());
  EXPECT_TRUE(Owners::listed(1, 1, {5}).is_grid());
}

TEST(Owners, AreEqualIfEveryPositionHasTheSameOwner) {
  EXPECT_EQ(Owners::grid(1, 4, GridOrder::row), Owners::grid(1, 4, GridOrder::column));
  EXPECT_NE(Owners::grid(2, 2, GridOrder::row), Owners::grid(2, 2, GridOrder::column));
  EXPECT_NE(Owners::grid(2, 2), Owners::grid(2, 2, GridOrder::row, 1));
  EXPECT_NE(Owners::grid(1, 4), Owners::grid(4, 1));
  EXPECT_EQ(Owners::listed(1, 3, {4, 4, 1}), Owners::listed(1, 3, {4, 4, 1}));
  EXPECT_NE(Owners::listed(1, 3, {4, 4, 1}), Owners::listed(1, 3, {4, 1, 1}));
  EXPECT_NE(Owners::listed(2, 2, {0, 1, 3, 2}), Owners::grid(2, 2));
}

TEST(Owners, AreTransposedPositionByPosition) {
  EXPECT_EQ(Owners::grid(2, 3).transposed(), Owners::grid(3, 2, GridOrder::column));
  EXPECT_EQ(Owners::grid(2, 3, GridOrder::column, 4).transposed(), Owners::grid(3, 2, GridOrder::row, 4));
  const Owners listed = Owners::listed(2, 3, {7, 2, 7, 9, 2, 7});
  EXPECT_THAT(table(listed.transposed()), ElementsAre(7, 9, 2, 2, 7, 7));
  EXPECT_EQ(listed.transposed().transposed(), listed);
}

TEST(Owners, AreAClosedFormForAGridOfAnySize) {
  const Owners owners = Owners::grid(46340, 46340, GridOrder::column);
  EXPECT_EQ(owners.owner(46339, 46339), 46340 * 46340 - 1);
  EXPECT_THAT(owners.owned_by(46341), ElementsAre(TilePosition{1, 1}));
}

TEST(Owners, RefuseWhatCannotBe) {
  constexpr int largest = std::numeric_limits<int>::max();
  EXPECT_THAT(test::message_of<LayoutError>([] { return Owners::grid(0, 3); }),
              HasSubstr("0 x 3 positions, expected at least 1 x 1"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Owners::grid(2, -1); }), HasSubstr("2 x -1 positions"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Owners::grid(Index{1} << 40, Index{1} << 40); }),
              HasSubstr("positions"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Owners::grid(46341, 46341); }),
              HasSubstr("a 46341 x 46341 process grid"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Owners::grid(1, 2, GridOrder::row, largest - 1); }),
              HasSubstr("from rank 2147483646 on"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Owners::grid(1, 1, GridOrder::row, -1); }),
              HasSubstr("the first rank is -1, expected at least 0"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Owners::listed(2, 2, {0, 1, 2}); }),
              HasSubstr("3 ranks are listed for 2 x 2 positions, expected 4"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Owners::listed(2, 2, {0, 1, -5, 2}); }),
              HasSubstr("position (1, 0) is -5, expected at least 0"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Owners::listed(1, 2, {3, largest}); }),
              HasSubstr("position (0, 1) is 2147483647"));
  const auto no_position = HasSubstr("the position is (2, 0), expected one of 2 x 2");
  EXPECT_THAT(test::message_of<ArgumentError>([] { return Owners::grid(2, 2).owner(2, 0); }), no_position);
}

}  // namespace
}  // namespace plait::layout
