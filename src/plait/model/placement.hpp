#pragma once

#include <cstddef>
#include <vector>

namespace plait::model {

/// Where the ranks of an operation are: on which node each of them is.
struct Placement {
  int ranks = 1;
  int ranks_per_node = 1;              // of the node that has most
  std::vector<int> node_of_rank = {};  // empty where ranks are dealt to the nodes in order, as many to each (the last
                                       // may have fewer)

  /// Rank r is on the node `node_of_rank[r]`: any numbers, and any order.
  /// \pre  there is a rank
  [[nodiscard]] static Placement on_nodes(const std::vector<int>& node_of_rank);

  [[nodiscard]] int nodes() const noexcept;
  /// From 0 on, by the nodes' lowest ranks.
  [[nodiscard]] int node_of(int rank) const noexcept {
    return node_of_rank.empty() ? rank / ranks_per_node : node_of_rank[static_cast<std::size_t>(rank)];
  }
  friend bool operator==(const Placement&, const Placement&) = default;
};

}  // namespace plait::model
