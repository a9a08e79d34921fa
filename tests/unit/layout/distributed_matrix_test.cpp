#include "plait/layout/distributed_matrix.hpp"

#include <complex>
#include <cstdint>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::layout {
namespace {

using ::testing::HasSubstr;

std::vector<Layout> some_layouts() {
  return {
      Layout::block_cyclic({23, 17}, 4, 3, Owners::grid(2, 3, GridOrder::column), 1, 2),
      Layout::block_cyclic({23, 17}, 4, 3, Owners::grid(2, 2), 0, 0, StorageOrder::row_major).submatrix(5, 2, {9, 13}),
      Layout::rows({3, 5}, 5),
      Layout::columns({7, 1}, 2),
      Layout::custom({0, 2, 2, 9}, {0, 5, 6}, {0, 3, 0, 0, 3, 0}),
      Layout::blocks({0, 4}, 1, 2),
  };
}

TEST(DistributedMatrix, HoldsEveryElementOnceAndOnItsOwner) {
  for (const Layout& layout : some_layouts()) {
    const Index rows = layout.shape().rows, columns = layout.shape().columns;
    std::vector<int> held(static_cast<std::size_t>(rows * columns), 0);
    for (int rank = 0; rank < layout.ranks() + 1; ++rank) {
      DistributedMatrix<double> matrix(layout, rank);
      matrix.for_each_element([&](Index row, Index column, double& value) {
        EXPECT_EQ(layout.owner_of(row, column), rank);
        ++held[static_cast<std::size_t>(row * columns + column)];
        value = static_cast<double>(row * 1000 + column);
      });
      Index elements = 0;
      std::as_const(matrix).for_each_element([&](Index row, Index column, const double& value) {
        EXPECT_EQ(value, static_cast<double>(row * 1000 + column));
        ++elements;
      });
      EXPECT_EQ(elements, layout.elements_of(rank));
    }
    EXPECT_THAT(held, ::testing::Each(1));
  }
}

TEST(DistributedMatrix, PutsAnElementWhereTheAxesSay) {
  const Layout layout = Layout::block_cyclic({23, 17}, 4, 3, Owners::grid(2, 3), 1, 2);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    DistributedMatrix<Index> matrix(layout, rank);
    matrix.for_each_element([](Index row, Index column, Index& value) { value = row * 100 + column; });
    for (Index row = 0; row < 23; ++row) {
      for (Index column = 0; column < 17; ++column) {
        if (layout.owner_of(row, column) != rank) continue;
        EXPECT_EQ(matrix.tiles()[0](layout.rows().local_of(row), layout.columns().local_of(column)),
                  row * 100 + column);
      }
    }
  }
}

TEST(DistributedMatrix, WalksThroughItsMemoryInOrder) {
  for (const Layout& layout : some_layouts()) {
    DistributedMatrix<char> matrix(layout, 0);
    const char* earlier = nullptr;
    matrix.for_each_element([&](Index, Index, char& value) {
      EXPECT_TRUE(earlier == nullptr || earlier < &value);
      earlier = &value;
    });
  }
}

template <class T>
class DistributedMatrixOf : public ::testing::Test {};

struct Rgb {
  unsigned char red, green, blue;
};
using ElementTypes = ::testing::Types<char, std::int32_t, double, std::complex<double>, Rgb>;
TYPED_TEST_SUITE(DistributedMatrixOf, ElementTypes);

TYPED_TEST(DistributedMatrixOf, BeginsEachTileOnACacheLineWithTheLeastLeadingDimension) {
  for (const Layout& layout : some_layouts()) {
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      DistributedMatrix<TypeParam> matrix(layout, rank);
      ASSERT_EQ(matrix.tiles().size(), layout.tiles_of(rank).size());
      const TypeParam* end = nullptr;
      for (std::size_t i = 0; i < matrix.tiles().size(); ++i) {
        const auto& tile = matrix.tiles()[i];
        const auto expected = layout.tiles_of(rank)[i];
        EXPECT_EQ(tile.rows(), expected.rows);
        EXPECT_EQ(tile.columns(), expected.columns);
        EXPECT_EQ(tile.order(), layout.storage());
        EXPECT_EQ(tile.leading_dimension(), std::max(Index{1}, tile.minor_extent()));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tile.data()) % 64, 0U);
        if (tile.empty()) continue;
        EXPECT_TRUE(end == nullptr || end <= tile.data()) << "tiles overlap";
        end = tile.data() + tile.span();
      }
    }
  }
}

TEST(DistributedMatrix, KeepsItsTilesWhenItIsMoved) {
  DistributedMatrix<double> first(Layout::rows({4, 4}, 2), 1);
  first.for_each_element(
      [](Index row, Index column, double& value) { value = static_cast<double>(row + 10 * column); });
  DistributedMatrix<double> moved = std::move(first);
  moved.for_each_element(
      [](Index row, Index column, double& value) { EXPECT_EQ(value, static_cast<double>(row + 10 * column)); });
  EXPECT_EQ(moved.rank(), 1);
}

TEST(DistributedMatrix, HoldsNothingOnARankOutsideOfItsLayout) {
  DistributedMatrix<double> matrix(Layout::rows({4, 4}, 2), 7);
  EXPECT_TRUE(matrix.tiles().empty());
  EXPECT_TRUE(matrix.const_tiles().empty());
}

TEST(DistributedMatrix, RefusesNegativeRanksAndMoreBytesThanCanBeCounted) {
  EXPECT_THAT(test::message_of<ArgumentError>([] { DistributedMatrix<double>(Layout::rows({4, 4}, 2), -1); }),
              HasSubstr("the rank is -1, expected at least 0"));
  const Shape huge{Index{1} << 31, Index{1} << 30};  // 2^61 elements can be counted, their 2^64 bytes can't
  EXPECT_THAT(test::message_of<OutOfMemory>([&] { DistributedMatrix<double>(Layout::rows(huge, 1), 0); }),
              HasSubstr("tile (0, 0) alone is 2147483648 x 1073741824"));
}

TEST(CheckTiles, AcceptsTilesInEitherOrderWithAnyLeadingDimension) {
  const Layout layout = Layout::custom({0, 2, 5}, {0, 4}, {1, 1});
  std::vector<double> memory(100);
  const std::vector<matrix_view<double>> tiles{{memory.data(), 2, 4, 2},
                                               {memory.data() + 30, 3, 4, 17, StorageOrder::row_major}};
  EXPECT_NO_THROW(check_tiles<double>(layout, 1, tiles));
  EXPECT_NO_THROW(check_tiles<double>(layout, 0, {}));
  EXPECT_NO_THROW(
      check_tiles<const double>(layout, 1, std::vector<matrix_view<const double>>(tiles.begin(), tiles.end())));
}

TEST(CheckTiles, AcceptsATileWithoutElementsAndWithoutMemory) {
  const std::vector<matrix_view<double>> tiles{{nullptr, 0, 4, 1}};
  EXPECT_NO_THROW(check_tiles<double>(Layout::rows({2, 4}, 3), 2, tiles));
}

TEST(CheckTiles, NamesTheTileThatDoesNotFit) {
  const Layout layout = Layout::custom({0, 2, 5}, {0, 4}, {1, 1});
  std::vector<double> memory(100);
  std::vector<matrix_view<double>> tiles{{memory.data(), 2, 4, 2}};
  EXPECT_THAT(test::message_of<ShapeMismatch>([&] { check_tiles<double>(layout, 1, tiles); }),
              HasSubstr("rank 1 was given 1 tiles, expected the 2 that it holds"));
  tiles.emplace_back(memory.data(), 4, 3, 4);
  EXPECT_THAT(test::message_of<ShapeMismatch>([&] { check_tiles<double>(layout, 1, tiles); }),
              HasSubstr("tile 1 of rank 1, at position (1, 0), is 4 x 3, expected 3 x 4"));
  tiles[1] = matrix_view<double>(nullptr, 3, 4, 3);
  EXPECT_THAT(test::message_of<ArgumentError>([&] { check_tiles<double>(layout, 1, tiles); }),
              HasSubstr("tile 1 of rank 1, at position (1, 0), is 3 x 4 and has no memory"));
}

}  // namespace
}  // namespace plait::layout
