#pragma once

#include <vector>

namespace plait::test {

/// While it lives, contexts that are made find the ranks of the test on nodes of these sizes, ascending ranks on each,
/// though all of them are on one machine, whose memory they share. One at a time; the same on all ranks.
class PretendedNodes {
 public:
  explicit PretendedNodes(const std::vector<int>& sizes);
  PretendedNodes(const PretendedNodes&) = delete;
  PretendedNodes& operator=(const PretendedNodes&) = delete;
  ~PretendedNodes();
};

}  // namespace plait::test
