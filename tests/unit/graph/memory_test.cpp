// The sparse solver stays below 100 MB where a table of all pairs would not; counted as the bytes that were ever asked
// for.

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/graph/assignment/assignment.hpp"

#include "savings_kinds.hpp"
#include "support/allocated_bytes.hpp"

namespace plait::graph {
namespace {

constexpr std::size_t limit = 100'000'000;

TEST(AssignmentMemory, OfTwoThousandRanksThatAllShareDataIsBelow100MegabytesWithTheSavings) {
  const std::size_t before = test::allocated_bytes();
  constexpr int n = 2048;
  std::vector<Index> offsets;
  std::vector<int> ranks;
  std::vector<Index> savings;
  offsets.reserve(n + 1);
  ranks.reserve(std::size_t{n} * n);
  savings.reserve(std::size_t{n} * n);
  for (int role = 0; role < n; ++role) {
    offsets.push_back(role * Index{n});
    for (int rank = 0; rank < n; ++rank) {
      ranks.push_back(rank);
      savings.push_back(static_cast<Index>(random_bits(5, savings.size()) % 1'000'000) + 1);
    }
  }
  offsets.push_back(n * Index{n});
  const auto rows = SparseSavings::from_rows(std::move(offsets), std::move(ranks), std::move(savings));
  EXPECT_EQ(assign_sparse(rows).size(), std::size_t{n});
  EXPECT_LT(test::allocated_bytes() - before, limit);
}

TEST(AssignmentMemory, OfSixteenThousandRanksIsBelow100MegabytesBesideTheEntries) {
  for (const test::SavingsKind& kind : test::savings_kinds()) {
    if (kind.name == "products") continue;
    const auto entries = kind.make(16384);
    const std::size_t before = test::allocated_bytes();
    EXPECT_EQ(assign_sparse(SparseSavings::from_entries(16384, entries)).size(), 16384U);
    EXPECT_LT(test::allocated_bytes() - before, limit) << kind.name;
  }
}

}  // namespace
}  // namespace plait::graph
