#pragma once

#include <cstddef>
#include <vector>

namespace plait::graph {

/// Completes a permutation: roles without a rank (-1) keep their own where it is free, the others take the free ones in
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

}  // namespace plait::graph
