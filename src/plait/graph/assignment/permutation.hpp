#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::graph {

/// The rank of a role, or the role of a rank, that is not assigned yet.
inline constexpr int unassigned = -1;

/// Upper bound of the sum of the largest savings of all roles, so that no assignment's sum overflows.
inline constexpr Index most_savings = Index{1} << 62;

/// Completes a permutation: unassigned roles keep their own where it is free, the others take the free ones in
/// order.
inline void fill_leftover_ranks(std::vector<int>& rank_of) {
  std::vector<bool> taken(rank_of.size());
  for (const int rank : rank_of) {
    if (rank >= 0) taken[static_cast<std::size_t>(rank)] = true;
  }
  for (std::size_t role = 0; role < rank_of.size(); ++role) {
    if (rank_of[role] >= 0 || taken[role]) continue;
    rank_of[role] = static_cast<int>(role);
    taken[role] = true;
  }
  std::size_t free = 0;
  for (int& rank : rank_of) {
    if (rank >= 0) continue;
    while (taken[free]) ++free;
    rank = static_cast<int>(free++);
  }
}

/// Lets roles keep their own rank where that costs nothing: a role that plays on another rank changes places with who
/// has its own one, if the sum of the two savings stays the same. Takes O(n) calls of `saving(role, rank)`.
template <class Saving>
void prefer_own_ranks(std::vector<int>& rank_of, const Saving& saving) {
  std::vector<int> role_of(rank_of.size());
  for (std::size_t role = 0; role < rank_of.size(); ++role) {
    role_of[static_cast<std::size_t>(rank_of[role])] = static_cast<int>(role);
  }
  for (std::size_t role = 0; role < rank_of.size(); ++role) {
    const auto own = static_cast<Index>(role);
    const Index rank = rank_of[role];
    const Index other = role_of[role];
    if (rank == own) continue;
    if (saving(own, own) + saving(other, rank) != saving(own, rank) + saving(other, own)) continue;
    std::swap(rank_of[role], rank_of[static_cast<std::size_t>(other)]);
    role_of[role] = static_cast<int>(own);
    role_of[static_cast<std::size_t>(rank)] = static_cast<int>(other);
  }
}

}  // namespace plait::graph
