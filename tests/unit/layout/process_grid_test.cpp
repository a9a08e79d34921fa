#include "plait/layout/process_grid.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace {

using plait::layout::GridOrder;
using plait::layout::GridPlace;
using plait::layout::ProcessGrid;

TEST(ProcessGrid, NumbersItsLayersAlongTheirRowsOrDownTheirColumns) {
  for (const ProcessGrid& grid :
       {ProcessGrid{2, 3, 4}, ProcessGrid{2, 3, 4, GridOrder::column}, ProcessGrid{1, 5, 1}, ProcessGrid{7, 1, 2}}) {
    const bool by_rows = grid.order == GridOrder::row;
    int next = 0;
    for (int layer = 0; layer < grid.layers; ++layer) {
      for (int outer = 0; outer < (by_rows ? grid.rows : grid.columns); ++outer) {
        for (int inner = 0; inner < (by_rows ? grid.columns : grid.rows); ++inner) {
          const GridPlace place = by_rows ? GridPlace{outer, inner, layer} : GridPlace{inner, outer, layer};
          EXPECT_EQ(grid.place(next), place);
          EXPECT_EQ(grid.row_of(next), place.row);
          EXPECT_EQ(grid.column_of(next), place.column);
          EXPECT_EQ(grid.rank(place), next);
          ++next;
        }
      }
    }
    EXPECT_EQ(grid.ranks(), next);
    EXPECT_TRUE(grid.contains(next - 1));
    EXPECT_FALSE(grid.contains(next));
    EXPECT_FALSE(grid.contains(-1));
  }
}

TEST(ProcessGrid, ListsTheRanksOfARowOfAColumnAndOfAPlaceInAllLayers) {
  const ProcessGrid by_rows{2, 3, 2};
  EXPECT_EQ(by_rows.ranks_of_row(1, 1), (std::vector{9, 10, 11}));
  EXPECT_EQ(by_rows.ranks_of_column(2, 1), (std::vector{8, 11}));
  EXPECT_EQ(by_rows.ranks_of_layers(1, 2), (std::vector{5, 11}));
  const ProcessGrid by_columns{2, 3, 2, GridOrder::column};
  EXPECT_EQ(by_columns.ranks_of_row(1), (std::vector{1, 3, 5}));
  EXPECT_EQ(by_columns.ranks_of_column(2, 1), (std::vector{10, 11}));
  EXPECT_EQ(by_columns.ranks_of_layers(0, 1), (std::vector{2, 8}));
}

TEST(ProcessGrid, CountsRanksThatNoIntCounts) {
  EXPECT_EQ((ProcessGrid{1 << 20, 1 << 20, 2}.ranks()), plait::Index{1} << 41);
}

}  // namespace
