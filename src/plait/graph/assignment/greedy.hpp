#pragma once

#include <vector>

#include "plait/graph/assignment/sparse_savings.hpp"

namespace plait::graph {

/// A good permutation, result[role] = rank, at least half as good as the best one: takes the largest saving first (of
/// equal ones that of the lowest role, then of the lowest rank) and leaves out those whose role or rank is taken. Roles
/// that are left keep their own rank where it is free; the others take what is left in order.
///
/// Takes O(entries log entries) steps.
[[nodiscard]] std::vector<int> assign_greedily(const SparseSavings& savings);

}  // namespace plait::graph
