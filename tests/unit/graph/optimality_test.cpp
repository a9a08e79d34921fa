// The exact solvers against naive ones, and against each other where those would take too long.

#include <algorithm>
#include <span>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/graph/assignment/assignment.hpp"

#include "naive_assignment.hpp"
#include "savings_kinds.hpp"

namespace plait::test {
namespace {

using graph::assign_by_core;
using graph::assign_dense;
using graph::assign_sparse;
using graph::assign_with_prices;
using graph::PricedAssignment;
using graph::Saving;
using graph::SparseSavings;

std::vector<int> dense_of(const Table& savings, StorageOrder order = StorageOrder::row_major) {
  const auto n = static_cast<Index>(savings.size());
  std::vector<Index> memory(savings.size() * savings.size());
  const matrix_view<Index> view(memory.data(), n, n, std::max<Index>(n, 1), order);
  for (std::size_t role = 0; role < savings.size(); ++role) {
    for (std::size_t rank = 0; rank < savings.size(); ++rank) {
      view(static_cast<Index>(role), static_cast<Index>(rank)) = savings[role][rank];
    }
  }
  return assign_dense(view);
}

std::vector<int> by_core_of(const Table& savings) {
  return assign_by_core(static_cast<Index>(savings.size()), [&](Index role, std::span<Index> row) {
    std::ranges::copy(savings[static_cast<std::size_t>(role)], row.begin());
  });
}

SparseSavings sparse_of(const Table& savings) {
  std::vector<Saving> entries;
  for (std::size_t role = 0; role < savings.size(); ++role) {
    for (std::size_t rank = 0; rank < savings.size(); ++rank) {
      entries.push_back({static_cast<int>(role), static_cast<int>(rank), savings[role][rank]});
    }
  }
  return SparseSavings::from_entries(static_cast<Index>(savings.size()), entries);
}

Table table_of(const SparseSavings& savings) {
  const auto n = static_cast<std::size_t>(savings.size());
  Table table(n, std::vector<Index>(n));
  for (std::size_t role = 0; role < n; ++role) {
    const auto ranks = savings.ranks(static_cast<Index>(role));
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      table[role][static_cast<std::size_t>(ranks[k])] = savings.savings(static_cast<Index>(role))[k];
    }
  }
  return table;
}

Index saved_by(const SparseSavings& savings, const std::vector<int>& rank_of) {
  Index sum = 0;
  for (std::size_t role = 0; role < rank_of.size(); ++role) sum += savings(static_cast<Index>(role), rank_of[role]);
  return sum;
}

/// The prices prove that no permutation is better (and that this is one with this sum).
void expect_proved(const SparseSavings& savings, const PricedAssignment& found) {
  const auto n = static_cast<std::size_t>(savings.size());
  ASSERT_TRUE(is_permutation(found.rank_of));
  ASSERT_EQ(found.rank_of.size(), n);
  ASSERT_EQ(found.role_prices.size(), n);
  ASSERT_EQ(found.rank_prices.size(), n);
  Index prices = 0;
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_GE(found.role_prices[i], 0);
    ASSERT_GE(found.rank_prices[i], 0);
    prices += found.role_prices[i] + found.rank_prices[i];
    const auto ranks = savings.ranks(static_cast<Index>(i));
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      const Index paid = found.role_prices[i] + found.rank_prices[static_cast<std::size_t>(ranks[k])];
      ASSERT_GE(paid, savings.savings(static_cast<Index>(i))[k]);
    }
  }
  ASSERT_EQ(prices, saved_by(savings, found.rank_of));
}

/// Savings from `least` to `most`, `zeros` percent of them 0.
Table random_table(std::uint64_t seed, std::size_t n, Index least, Index most, int zeros) {
  Table savings(n, std::vector<Index>(n));
  std::uint64_t counter = 0;
  for (auto& row : savings) {
    for (Index& saving : row) {
      const std::uint64_t bits = random_bits(seed, counter++);
      saving = least + static_cast<Index>((bits >> 8) % static_cast<std::uint64_t>(most - least + 1));
      if (static_cast<int>(random_bits(seed + 1, counter) % 100) < zeros) saving = 0;
    }
  }
  return savings;
}

void expect_best(const Table& savings, Index best) {
  for (const auto order : {StorageOrder::row_major, StorageOrder::column_major}) {
    const std::vector<int> rank_of = dense_of(savings, order);
    ASSERT_TRUE(is_permutation(rank_of));
    ASSERT_EQ(sum_of(savings, rank_of), best);
    ASSERT_EQ(rank_of, dense_of(savings));
  }
  if (std::ranges::any_of(savings, [](const auto& row) { return std::ranges::min(row) < 0; })) return;
  const SparseSavings sparse = sparse_of(savings);
  const PricedAssignment found = assign_with_prices(sparse);
  expect_proved(sparse, found);
  ASSERT_EQ(sum_of(savings, found.rank_of), best);
  ASSERT_EQ(assign_sparse(sparse), found.rank_of);
  const std::vector<int> by_core = by_core_of(savings);
  ASSERT_TRUE(is_permutation(by_core));
  ASSERT_EQ(sum_of(savings, by_core), best);
  ASSERT_EQ(by_core_of(savings), by_core);
}

struct Range {
  Index least;
  Index most;
};
constexpr Range ranges[] = {{0, 1},
                            {0, 3},
                            {1, 2},
                            {0, 1000},
                            {-5, 5},
                            {-1'000'000, -1},
                            {0, Index{1} << 52},
                            {-(Index{1} << 50), Index{1} << 50}};

TEST(AssignmentOptimality, MatchesAllPermutationsOfAFew) {
  for (std::size_t n = 0; n <= 8; ++n) {
    const std::uint64_t seeds = n == 8 ? 2 : n == 7 ? 8 : 30;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      for (const auto& [least, most] : ranges) {
        for (const int zeros : {0, 40, 80}) {
          SCOPED_TRACE(testing::Message() << n << " ranks, seed " << seed << ", " << least << " to " << most << ", "
                                          << zeros << " % zeros");
          const Table savings = random_table(seed, n, least, most, zeros);
          const Index best = best_sum_of_all(savings);
          ASSERT_EQ(best_sum_by_potentials(savings), best);
          expect_best(savings, best);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(AssignmentOptimality, MatchesTheTextbookForDozensOfRanks) {
  for (std::size_t n = 9; n <= 60; n += 10) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      for (const auto& [least, most] : ranges) {
        for (const int zeros : {0, 60, 93}) {
          SCOPED_TRACE(testing::Message() << n << " ranks, seed " << seed << ", " << least << " to " << most << ", "
                                          << zeros << " % zeros");
          const Table savings = random_table(seed, n, least, most, zeros);
          expect_best(savings, best_sum_by_potentials(savings));
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(AssignmentOptimality, MatchesTheTextbookWhereSumsReachTwoToThe62) {
  for (std::size_t n = 2; n <= 20; ++n) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(testing::Message() << n << " ranks, seed " << seed);
      // One role may save nearly everything, the others share the rest; or all save alike.
      const Index share = (Index{1} << 62) / static_cast<Index>(n);
      Table savings = random_table(seed, n, seed % 2 == 0 ? share - 3 : 0, share, seed % 3 == 0 ? 50 : 0);
      expect_best(savings, best_sum_by_potentials(savings));
      for (auto& row : savings) {
        for (Index& saving : row) saving = -saving;
      }
      expect_best(savings, best_sum_by_potentials(savings));
      savings = random_table(seed, n, 0, 100, 30);
      for (Index& saving : savings[seed % n]) saving = (Index{1} << 62) - 100 * static_cast<Index>(n) - saving;
      expect_best(savings, best_sum_by_potentials(savings));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(AssignmentOptimality, OfDenseAndSparseIsTheSameForEveryKindOfSavings) {
  for (const SavingsKind& kind : savings_kinds()) {
    for (const int n : {90, 371}) {
      SCOPED_TRACE(testing::Message() << kind.name << ", " << n << " ranks");
      const auto savings = SparseSavings::from_entries(n, kind.make(n));
      const PricedAssignment found = assign_with_prices(savings);
      expect_proved(savings, found);
      const std::vector<int> dense = dense_of(table_of(savings));
      ASSERT_TRUE(is_permutation(dense));
      ASSERT_EQ(saved_by(savings, dense), saved_by(savings, found.rank_of));
      ASSERT_EQ(dense, dense_of(table_of(savings)));
      ASSERT_EQ(assign_sparse(savings), found.rank_of);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(AssignmentOptimality, OfDenseAndSparseIsTheSameFor2048Ranks) {
  for (const SavingsKind& kind : savings_kinds()) {
    if (kind.name == "products" || kind.name == "nothing" || kind.name == "bands" || kind.name == "all equal") continue;
    SCOPED_TRACE(kind.name);
    const auto savings = SparseSavings::from_entries(2048, kind.make(2048));
    const PricedAssignment found = assign_with_prices(savings);
    expect_proved(savings, found);
    ASSERT_EQ(saved_by(savings, dense_of(table_of(savings))), saved_by(savings, found.rank_of));
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Two process grids that overlap everywhere: a Kronecker product of small tables.
Table product_table(std::size_t side, Index values) {
  const Table rows = random_table(1, side, 1, values, 0);
  const Table columns = random_table(2, side, 1, values, 0);
  Table savings(side * side, std::vector<Index>(side * side));
  for (std::size_t role = 0; role < savings.size(); ++role) {
    for (std::size_t rank = 0; rank < savings.size(); ++rank) {
      savings[role][rank] = rows[role / side][rank / side] * columns[role % side][rank % side];
    }
  }
  return savings;
}

TEST(AssignmentOptimality, OfDenseAndCoreIsTheSameWhereEveryPairSaves) {
  Table ranked(300, std::vector<Index>(300));
  for (std::size_t role = 0; role < 300; ++role) {
    for (std::size_t rank = 0; rank < 300; ++rank) ranked[role][rank] = static_cast<Index>((role + 1) * (rank + 1));
  }
  for (const Table& savings : {random_table(3, 400, 1, 1'000'000, 0), random_table(4, 400, 100, 103, 0),
                               product_table(20, 2), product_table(20, 1000), ranked}) {
    const std::vector<int> by_core = by_core_of(savings);
    ASSERT_TRUE(is_permutation(by_core));
    ASSERT_EQ(sum_of(savings, by_core), sum_of(savings, dense_of(savings)));
  }
}

TEST(AssignmentOptimality, OfManyRanksIsProvedByPricesForEveryKindOfSavings) {
  for (const SavingsKind& kind : savings_kinds()) {
    const int n = kind.name == "products" ? 1024 : 8192;
    SCOPED_TRACE(testing::Message() << kind.name << ", " << n << " ranks");
    const auto savings = SparseSavings::from_entries(n, kind.make(n));
    expect_proved(savings, assign_with_prices(savings));
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace plait::test
