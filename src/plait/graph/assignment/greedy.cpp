#include "plait/graph/assignment/greedy.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "plait/graph/assignment/leftover_ranks.hpp"

namespace plait::graph {

std::vector<int> assign_greedily(const SparseSavings& savings) {
  std::vector<Saving> entries;
  entries.reserve(static_cast<std::size_t>(savings.entries()));
  for (Index role = 0; role < savings.size(); ++role) {
    for (std::size_t k = 0; k < savings.ranks(role).size(); ++k) {
      entries.push_back({static_cast<int>(role), savings.ranks(role)[k], savings.savings(role)[k]});
    }
  }
  std::ranges::sort(entries, [](const Saving& a, const Saving& b) {
    return std::tie(b.saving, a.role, a.rank) < std::tie(a.saving, b.role, b.rank);
  });
  std::vector<int> rank_of(static_cast<std::size_t>(savings.size()), -1);
  std::vector<bool> taken(rank_of.size());
  for (const Saving& entry : entries) {
    const auto role = static_cast<std::size_t>(entry.role);
    const auto rank = static_cast<std::size_t>(entry.rank);
    if (rank_of[role] >= 0 || taken[rank]) continue;
    rank_of[role] = entry.rank;
    taken[rank] = true;
  }
  fill_leftover_ranks(rank_of);
  return rank_of;
}

}  // namespace plait::graph
