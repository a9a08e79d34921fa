#include "plait/graph/assignment/sparse_savings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Index most_saved = Index{1} << 62;

TEST(SparseSavings, SortEntriesByRoleAndRankAndAddUpEqualOnes) {
  const std::vector<Saving> entries = {{2, 1, 5}, {0, 2, 1}, {2, 0, 7}, {0, 2, 3}, {2, 2, 0}, {2, 1, 1}};
  const auto savings = SparseSavings::from_entries(3, entries);
  EXPECT_EQ(savings.size(), 3);
  EXPECT_EQ(savings.entries(), 3);
  EXPECT_THAT(savings.ranks(0), ElementsAre(2));
  EXPECT_THAT(savings.savings(0), ElementsAre(4));
  EXPECT_THAT(savings.ranks(1), IsEmpty());
  EXPECT_THAT(savings.ranks(2), ElementsAre(0, 1));
  EXPECT_THAT(savings.savings(2), ElementsAre(7, 6));
}

TEST(SparseSavings, AnswerZeroForPairsWithoutAnEntry) {
  const auto savings = SparseSavings::from_rows({0, 2, 2, 3}, {0, 2, 1}, {10, 20, 30});
  const Index expected[3][3] = {{10, 0, 20}, {0, 0, 0}, {0, 30, 0}};
  for (Index role = 0; role < 3; ++role) {
    for (Index rank = 0; rank < 3; ++rank) EXPECT_EQ(savings(role, rank), expected[role][rank]);
  }
}

TEST(SparseSavings, MayBeEmpty) {
  EXPECT_EQ(SparseSavings().size(), 0);
  EXPECT_EQ(SparseSavings().entries(), 0);
  EXPECT_EQ(SparseSavings::from_entries(0, {}).size(), 0);
  EXPECT_EQ(SparseSavings::from_entries(4, {}).entries(), 0);
}

TEST(SparseSavings, RefuseEntriesOutOfRange) {
  const auto from = [](Saving entry) {
    return [entry] { static_cast<void>(SparseSavings::from_entries(3, std::vector<Saving>{entry})); };
  };
  EXPECT_THAT(test::message_of<ArgumentError>(from({3, 0, 1})), HasSubstr("role 3 on rank 0"));
  EXPECT_THAT(test::message_of<ArgumentError>(from({0, -1, 1})), HasSubstr("role 0 on rank -1"));
  EXPECT_THAT(test::message_of<ArgumentError>(from({1, 2, -5})), HasSubstr("saves -5"));
  EXPECT_THAT(test::message_of<ArgumentError>(from({1, 2, most_saved + 1})), HasSubstr("saves 4611686018427387905"));
  EXPECT_THROW(static_cast<void>(SparseSavings::from_entries(-1, {})), ArgumentError);
  EXPECT_THROW(static_cast<void>(SparseSavings::from_entries(Index{1} << 31, {})), ArgumentError);
}

TEST(SparseSavings, RefuseRowsThatAreNone) {
  EXPECT_THROW(static_cast<void>(SparseSavings::from_rows({}, {}, {})), ArgumentError);
  EXPECT_THROW(static_cast<void>(SparseSavings::from_rows({0, 1}, {0}, {})), ArgumentError);
  EXPECT_THROW(static_cast<void>(SparseSavings::from_rows({0, 2, 1, 2}, {0, 1}, {1, 1})), ArgumentError);
  EXPECT_THROW(static_cast<void>(SparseSavings::from_rows({0, 2, 2}, {1, 0}, {1, 1})), ArgumentError);
  EXPECT_THROW(static_cast<void>(SparseSavings::from_rows({0, 2, 2}, {1, 1}, {1, 1})), ArgumentError);
  EXPECT_THROW(static_cast<void>(SparseSavings::from_rows({0, 1, 1}, {1}, {0})), ArgumentError);
}

TEST(SparseSavings, RefuseSumsAboveTwoToThe62) {
  EXPECT_EQ(SparseSavings::from_entries(2, std::vector<Saving>{{0, 0, most_saved - 1}, {1, 0, 1}})(0, 0),
            most_saved - 1);
  // Two savings of one role are never had together.
  EXPECT_EQ(SparseSavings::from_entries(2, std::vector<Saving>{{0, 0, most_saved}, {0, 1, most_saved}}).entries(), 2);
  const std::vector<Saving> of_two_roles = {{0, 0, most_saved}, {1, 1, 1}};
  const std::vector<Saving> of_one_pair = {{0, 0, most_saved}, {0, 0, 1}};
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return SparseSavings::from_entries(2, of_two_roles); }),
              HasSubstr("more than 2^62"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return SparseSavings::from_entries(2, of_one_pair); }),
              HasSubstr("role 0 on rank 0 add up to more than 2^62"));
}

}  // namespace
}  // namespace plait::graph
