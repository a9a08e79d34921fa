#include "plait/model/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

#include "plait/base/contract.hpp"

namespace plait::model {

Placement Placement::on_nodes(const std::vector<int>& node_of_rank) {
  PLAIT_ASSERT(!node_of_rank.empty(), "there is a rank");
  std::map<int, int> number_of;
  std::vector<int> nodes;
  nodes.reserve(node_of_rank.size());
  for (const int node : node_of_rank)
    nodes.push_back(number_of.try_emplace(node, static_cast<int>(number_of.size())).first->second);
  std::vector<int> ranks_of(number_of.size(), 0);
  for (const int node : nodes) ++ranks_of[static_cast<std::size_t>(node)];

  Placement dealt{static_cast<int>(nodes.size()), *std::ranges::max_element(ranks_of)};
  for (int rank = 0; rank < dealt.ranks; ++rank) {
    if (nodes[static_cast<std::size_t>(rank)] == dealt.node_of(rank)) continue;
    dealt.node_of_rank = std::move(nodes);
    break;
  }
  return dealt;
}

int Placement::nodes() const noexcept {
  if (node_of_rank.empty()) return (ranks + ranks_per_node - 1) / ranks_per_node;
  return *std::ranges::max_element(node_of_rank) + 1;
}

}  // namespace plait::model
