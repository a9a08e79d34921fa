#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/assignment/sparse_savings.hpp"

namespace plait::graph {

/// The best permutation together with the proof that it is: prices with
///
///   role_prices[i] + rank_prices[j] >= savings(i, j)  and  both >= 0  for every role i and rank j,
///   Σ role_prices + Σ rank_prices == Σ savings(i, rank_of[i]).
struct PricedAssignment {
  std::vector<int> rank_of;
  std::vector<Index> role_prices;
  std::vector<Index> rank_prices;
};

/// The permutation with the largest  Σ savings(role, rank_of[role]),  exactly, in integers.
///
/// Takes memory for n roles and n ranks beside the savings, never n². At worst each role searches all entries; usually
/// few have to search, and see a small part. Of equally good permutations always the same one; a role keeps its own
/// rank where changing places with who has it costs nothing, in particular where neither saves anything.
///
/// Source: Jonker, Volgenant, Computing 38 (1987), for a matching that need not be perfect: each role may stay without
/// a rank for 0, so a path also ends there.
[[nodiscard]] PricedAssignment assign_with_prices(const SparseSavings& savings);

/// As `assign_with_prices`, result[role] = rank.
[[nodiscard]] std::vector<int> assign_sparse(const SparseSavings& savings);

}  // namespace plait::graph
