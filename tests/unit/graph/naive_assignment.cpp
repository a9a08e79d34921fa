#include "naive_assignment.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace plait::test {

namespace {

std::vector<int> identity(std::size_t n) {
  std::vector<int> rank_of(n);
  std::iota(rank_of.begin(), rank_of.end(), 0);
  return rank_of;
}

}  // namespace

Index sum_of(const Table& savings, const std::vector<int>& rank_of) {
  Index sum = 0;
  for (std::size_t role = 0; role < rank_of.size(); ++role) {
    sum += savings.at(role).at(static_cast<std::size_t>(rank_of[role]));
  }
  return sum;
}

bool is_permutation(const std::vector<int>& rank_of) {
  return std::ranges::is_permutation(rank_of, identity(rank_of.size()));
}

Index best_sum_of_all(const Table& savings) {
  std::vector<int> rank_of = identity(savings.size());
  Index best = sum_of(savings, rank_of);
  while (std::next_permutation(rank_of.begin(), rank_of.end())) best = std::max(best, sum_of(savings, rank_of));
  return best;
}

// The textbook's Kuhn-Munkres: rows and columns from 1, column 0 stands for the row that is being added.
Index best_sum_by_potentials(const Table& savings) {
  const std::size_t n = savings.size();
  std::vector<Index> of_row(n + 1);
  std::vector<Index> of_column(n + 1);
  std::vector<std::size_t> row_of(n + 1);
  for (std::size_t added = 1; added <= n; ++added) {
    std::vector<Index> slack(n + 1, std::numeric_limits<Index>::max());
    std::vector<std::size_t> before(n + 1);
    std::vector<bool> seen(n + 1);
    row_of[0] = added;
    std::size_t column = 0;
    while (row_of[column] != 0) {
      seen[column] = true;
      const std::size_t row = row_of[column];
      std::optional<std::size_t> nearest;
      for (std::size_t other = 1; other <= n; ++other) {
        if (seen[other]) continue;
        const Index reduced = -savings[row - 1][other - 1] - of_row[row] - of_column[other];
        if (reduced < slack[other]) {
          slack[other] = reduced;
          before[other] = column;
        }
        if (!nearest || slack[other] < slack[*nearest]) nearest = other;
      }
      const Index shift = slack[*nearest];
      for (std::size_t other = 0; other <= n; ++other) {
        if (seen[other]) {
          of_row[row_of[other]] += shift;
          of_column[other] -= shift;
        } else if (other > 0) {
          slack[other] -= shift;
        }
      }
      column = *nearest;
    }
    for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
  }
  Index sum = 0;
  for (std::size_t column = 1; column <= n; ++column) sum += savings[row_of[column] - 1][column - 1];
  return sum;
}

}  // namespace plait::test
