#pragma once

#include <vector>

#include "plait/base/index.hpp"

namespace plait::test {

/// Savings, row by row.
using Table = std::vector<std::vector<Index>>;

[[nodiscard]] Index sum_of(const Table& savings, const std::vector<int>& rank_of);

/// Whether every rank plays one role.
[[nodiscard]] bool is_permutation(const std::vector<int>& rank_of);

/// References: the largest sum of savings, over all permutations one by one, and by potentials in O(n³) steps.
[[nodiscard]] Index best_sum_of_all(const Table& savings);
[[nodiscard]] Index best_sum_by_potentials(const Table& savings);

}  // namespace plait::test
