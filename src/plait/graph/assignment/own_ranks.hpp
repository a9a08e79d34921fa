#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::graph {

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
