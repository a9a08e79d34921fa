#include "plait/base/matrix_view.hpp"

#include <numeric>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace {

using plait::ContractViolation;
using plait::Index;
using plait::matrix_view;
using plait::StorageOrder;

constexpr StorageOrder orders[] = {StorageOrder::column_major, StorageOrder::row_major};

// 3 × 4 elements, 5 apart, each its own index in memory.
struct MatrixView : ::testing::TestWithParam<StorageOrder> {
  MatrixView() : memory(5 * 4) { std::iota(memory.begin(), memory.end(), 0); }

  [[nodiscard]] matrix_view<int> view() { return {memory.data(), 3, 4, 5, GetParam()}; }
  [[nodiscard]] int place(Index row, Index column) const {
    return static_cast<int>(GetParam() == StorageOrder::column_major ? row + 5 * column : 5 * row + column);
  }

  std::vector<int> memory;
};

TEST_P(MatrixView, finds_each_element) {
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 4; ++j) EXPECT_EQ(view()(i, j), place(i, j));
  }
}

TEST_P(MatrixView, spans_from_the_first_to_the_last_element) {
  EXPECT_EQ(view().span(), place(2, 3) + 1);
  EXPECT_EQ(view().part(0, 0, 0, 4).span(), 0);
  EXPECT_EQ(view().part(0, 0, 3, 0).span(), 0);
}

TEST_P(MatrixView, gives_any_part) {
  for (Index i = 0; i <= 3; ++i) {
    for (Index j = 0; j <= 4; ++j) {
      for (Index rows = 0; i + rows <= 3; ++rows) {
        for (Index columns = 0; j + columns <= 4; ++columns) {
          const auto part = view().part(i, j, rows, columns);
          ASSERT_EQ(part.rows(), rows);
          ASSERT_EQ(part.columns(), columns);
          ASSERT_EQ(part.empty(), rows == 0 || columns == 0);
          if (part.empty()) continue;
          EXPECT_EQ(part(0, 0), place(i, j));
          EXPECT_EQ(part(rows - 1, columns - 1), place(i + rows - 1, j + columns - 1));
        }
      }
    }
  }
}

TEST_P(MatrixView, transposes_without_moving) {
  const auto transposed = view().transposed();
  ASSERT_EQ(transposed.rows(), 4);
  ASSERT_EQ(transposed.columns(), 3);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 4; ++j) EXPECT_EQ(&transposed(j, i), &view()(i, j));
  }
  EXPECT_EQ(transposed.minor_extent(), view().minor_extent());
  EXPECT_EQ(transposed.major_extent(), view().major_extent());
  EXPECT_EQ(transposed.transposed().order(), GetParam());
}

TEST_P(MatrixView, becomes_constant_but_not_mutable_again) {
  const matrix_view<const int> constant = view();
  EXPECT_EQ(&constant(2, 3), &view()(2, 3));
  EXPECT_EQ(constant.leading_dimension(), 5);
  EXPECT_EQ(constant.order(), GetParam());
  static_assert(!std::is_convertible_v<matrix_view<const int>, matrix_view<int>>);
}

#if PLAIT_ASSERT_LEVEL >= 1
TEST_P(MatrixView, refuses_what_does_not_lie_inside) {
  EXPECT_THROW((void)view().part(0, 0, 4, 1), ContractViolation);
  EXPECT_THROW((void)view().part(0, 0, 1, 5), ContractViolation);
  EXPECT_THROW((void)view().part(3, 0, 1, 1), ContractViolation);
  EXPECT_THROW((void)view().part(0, 4, 1, 1), ContractViolation);
  EXPECT_THROW((void)view().part(-1, 0, 1, 1), ContractViolation);
  EXPECT_THROW((void)view().part(0, -1, 1, 1), ContractViolation);
  EXPECT_THROW((void)view().part(2, 2, -1, 1), ContractViolation);
}

TEST_P(MatrixView, refuses_extents_that_its_leading_dimension_does_not_span) {
  const auto make = [&](Index rows, Index columns, Index leading_dimension) {
    return matrix_view<int>(memory.data(), rows, columns, leading_dimension, GetParam());
  };
  const bool by_column = GetParam() == StorageOrder::column_major;
  EXPECT_NO_THROW(make(3, 4, by_column ? 3 : 4));
  EXPECT_THROW(make(3, 4, by_column ? 2 : 3), ContractViolation);
  EXPECT_NO_THROW(make(0, 0, 1));
  EXPECT_THROW(make(0, 0, 0), ContractViolation);
  EXPECT_THROW(make(-1, 4, 5), ContractViolation);
  EXPECT_THROW(make(3, -1, 5), ContractViolation);
}
#endif

INSTANTIATE_TEST_SUITE_P(InBothOrders, MatrixView, ::testing::ValuesIn(orders));

TEST(MatrixViewByDefault, is_empty) {
  constexpr matrix_view<double> nothing;
  EXPECT_TRUE(nothing.empty());
  EXPECT_EQ(nothing.data(), nullptr);
  EXPECT_EQ(nothing.span(), 0);
}

}  // namespace
