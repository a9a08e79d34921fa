#include "plait/graph/assignment/assignment.hpp"

#include <algorithm>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Index most = Index{1} << 62;

matrix_view<const Index> square(const std::vector<Index>& savings, Index n,
                                StorageOrder order = StorageOrder::row_major) {
  return {savings.data(), n, n, std::max<Index>(n, 1), order};
}

SparseSavings sparse(Index n, const std::vector<Saving>& entries) { return SparseSavings::from_entries(n, entries); }

TEST(DenseAssignment, IsTheBestOfASmallTable) {
  // Greedy would take 9 and be left with 0 and 1.
  const std::vector<Index> savings = {9, 8, 1, 8, 0, 2, 1, 3, 1};
  EXPECT_THAT(assign_dense(square(savings, 3)), ElementsAre(1, 0, 2));
}

TEST(DenseAssignment, ReadsEitherStorageOrderAndPartsOfLargerTables) {
  const std::vector<Index> savings = {0, 5, 0, 90, 0, 0, 5, 90, 5, 0, 0, 90, 90, 90, 90, 90};
  EXPECT_THAT(assign_dense(square(savings, 4).part(0, 0, 3, 3)), ElementsAre(1, 2, 0));
  EXPECT_THAT(assign_dense(square(savings, 4, StorageOrder::column_major).part(0, 0, 3, 3)), ElementsAre(2, 0, 1));
}

TEST(DenseAssignment, OfNothingAndOfOne) {
  EXPECT_THAT(assign_dense({}), IsEmpty());
  for (const Index saving : {Index{0}, Index{-7}, most, -most}) {
    EXPECT_THAT(assign_dense(square({saving}, 1)), ElementsAre(0));
  }
}

TEST(DenseAssignment, KeepsOwnRanksWhereThatCostsNothing) {
  EXPECT_THAT(assign_dense(square(std::vector<Index>(25, 3), 5)), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(assign_dense(square({0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 4)), ElementsAre(0, 2, 1, 3));
}

TEST(DenseAssignment, AddsUpToTwoToThe62AndRefusesMore) {
  EXPECT_THAT(assign_dense(square({most / 2, most / 2, most / 2, 0}, 2)), ElementsAre(1, 0));
  EXPECT_THAT(assign_dense(square({-most / 2, 0, 0, -most / 2}, 2)), ElementsAre(1, 0));
  EXPECT_THAT(assign_dense(square({most / 4, -most / 4, -most / 4, most / 4}, 2)), ElementsAre(0, 1));
  EXPECT_THAT(test::message_of<ArgumentError>([] { return assign_dense(square({most / 2, 0, 0, most / 2 + 1}, 2)); }),
              HasSubstr("role 1 has 0 to 2305843009213693953"));
  EXPECT_THROW(static_cast<void>(assign_dense(square({INT64_MAX, INT64_MIN, 0, 0}, 2))), ArgumentError);
  EXPECT_THROW(static_cast<void>(assign_dense(square({1, INT64_MIN, 0, 0}, 2))), ArgumentError);
}

TEST(DenseAssignment, RefusesATableThatIsNotSquare) {
  const std::vector<Index> savings(6);
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return assign_dense({savings.data(), 2, 3, 2}); }),
              HasSubstr("2 x 3"));
}

TEST(SparseAssignment, IsTheBestOfASmallTable) {
  const auto savings = sparse(3, {{0, 0, 9}, {0, 1, 8}, {1, 0, 8}, {2, 1, 3}});
  EXPECT_THAT(assign_sparse(savings), ElementsAre(1, 0, 2));
}

TEST(SparseAssignment, LeavesARoleWithNothingWhereThatIsBetter) {
  EXPECT_THAT(assign_sparse(sparse(3, {{0, 1, 2}, {1, 1, 9}, {1, 2, 6}, {2, 2, 5}})), ElementsAre(0, 1, 2));
  EXPECT_THAT(assign_sparse(sparse(3, {{0, 1, 4}, {1, 1, 9}, {1, 2, 6}, {2, 2, 1}})), ElementsAre(1, 2, 0));
}

TEST(SparseAssignment, KeepsOwnRanksWhereThatCostsNothing) {
  EXPECT_THAT(assign_sparse(sparse(5, {})), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(assign_sparse(sparse(5, {{3, 1, 7}})), ElementsAre(0, 3, 2, 1, 4));
  EXPECT_THAT(assign_sparse(sparse(3, {{0, 1, 5}, {0, 0, 5}, {1, 0, 5}, {1, 1, 5}})), ElementsAre(0, 1, 2));
}

TEST(SparseAssignment, OfNothing) {
  EXPECT_THAT(assign_sparse(SparseSavings()), IsEmpty());
  EXPECT_THAT(assign_sparse(sparse(1, {})), ElementsAre(0));
}

TEST(SparseAssignment, AddsUpToTwoToThe62) {
  EXPECT_THAT(assign_sparse(sparse(2, {{0, 0, most - 1}, {0, 1, most - 1}, {1, 0, 1}})), ElementsAre(1, 0));
  const Index half = most / 2;
  EXPECT_THAT(assign_sparse(sparse(3, {{0, 0, half}, {0, 1, half - 1}, {1, 0, half}, {1, 1, half - 2}})),
              ElementsAre(1, 0, 2));
}

TEST(CoreAssignment, OfNothingAndOfEqualSavings) {
  const auto equal = [](Index, std::span<Index> savings) { std::ranges::fill(savings, 7); };
  EXPECT_THAT(assign_by_core(0, equal), IsEmpty());
  EXPECT_THAT(assign_by_core(4, equal), ElementsAre(0, 1, 2, 3));
}

TEST(CoreAssignment, AddsUpToTwoToThe62AndRefusesMoreAndLess) {
  const auto by_own = [](Index own, Index other) {
    return [=](Index role, std::span<Index> savings) {
      std::ranges::fill(savings, other);
      savings[static_cast<std::size_t>(role)] = own;
    };
  };
  EXPECT_THAT(assign_by_core(2, by_own(most / 2, 0)), ElementsAre(0, 1));
  EXPECT_THAT(assign_by_core(2, by_own(0, most / 2)), ElementsAre(1, 0));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return assign_by_core(3, by_own(most / 2, 1)); }),
              HasSubstr("role 2 saves 1 to 2305843009213693952"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return assign_by_core(3, by_own(5, -1)); }),
              HasSubstr("role 0 saves -1 to 5"));
  EXPECT_THROW(static_cast<void>(assign_by_core(-1, by_own(1, 1))), ArgumentError);
}

}  // namespace
}  // namespace plait::graph
