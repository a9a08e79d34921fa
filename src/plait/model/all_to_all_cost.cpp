#include <algorithm>

#include "plait/model/costs.hpp"
#include "plait/model/exchanges.hpp"
#include "plait/model/path.hpp"

namespace plait::model {

namespace {

// At distance d, min(d, ranks of a node) ranks of each node talk to other nodes: all distances beyond are alike.
Cost pairwise(const Machine& machine, Placement placement, Index block, Index segment_bytes) {
  Path path(machine, placement, segment_bytes);
  const int near = std::min(placement.ranks_per_node, placement.ranks - 1);
  for (int distance = 1; distance <= near; ++distance) {
    path.add({.pattern = Pattern::shift, .bytes = block, .distance = distance});
  }
  path.add({.pattern = Pattern::shift, .bytes = block, .distance = std::max(1, placement.ranks - 1)},
           placement.ranks - 1 - near);
  return path.cost();
}

}  // namespace

Cost cost(AllToAllAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes, Index segment_bytes) {
  Cost all = pairwise(machine, placement, largest_part(bytes, placement.ranks), segment_bytes);
  if (algorithm == AllToAllAlgorithm::pairwise || placement.ranks == 1 || bytes == 0) return all;
  const Link& link = placement.nodes() == 1 ? machine.node : machine.network;
  all.first_seconds = link.latency_seconds + std::max(all.network_seconds, all.core_seconds);
  return all;
}

}  // namespace plait::model
