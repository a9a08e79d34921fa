#pragma once

#include <vector>

namespace plait::test {

/// While it lives, contexts that are made find the ranks of the test on other nodes, though all of them are on one
/// machine, whose memory they share. One at a time; the same on all ranks.
class PretendedNodes {
 public:
  /// Nodes of these sizes, ascending ranks on each.
  explicit PretendedNodes(const std::vector<int>& sizes);
  /// Rank r on the node `node_of_rank[r]`; ranks beyond its end on one of their own.
  [[nodiscard]] static PretendedNodes of_ranks(const std::vector<int>& node_of_rank);
  PretendedNodes(const PretendedNodes&) = delete;
  PretendedNodes& operator=(const PretendedNodes&) = delete;
  ~PretendedNodes();

 private:
  struct Own {
    int node;
  };
  explicit PretendedNodes(Own own);
};

}  // namespace plait::test
