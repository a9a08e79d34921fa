#include <algorithm>

#include "plait/model/costs.hpp"
#include "plait/model/exchanges.hpp"
#include "plait/model/path.hpp"

namespace plait::model {

namespace {

// Reduce-scatter among the ranks of a node, by loads from each other's memory; then, at the other end, each rank copies
// the whole. The copies of all ranks share the memory's rate.
void add_within_node(Path& path, const Machine& machine, Index ranks, Index bytes) {
  if (ranks == 1) return;
  const auto part = static_cast<double>(largest_part(bytes, ranks));
  const auto others = static_cast<double>(ranks - 1);
  const double copied = static_cast<double>(ranks * bytes) / machine.copy_bytes_per_second;
  path.add_core(2 * machine.node.latency_seconds + others * part / machine.combine_bytes_per_second + copied);
}

}  // namespace

Cost cost(AllreduceAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes, Index segment_bytes) {
  if (placement.ranks == 1 || bytes == 0) return {};
  Path path(machine, placement, segment_bytes);
  switch (algorithm) {
    case AllreduceAlgorithm::ring:
      add_ring(path, placement, bytes, true);
      add_ring(path, placement, bytes, false);
      break;
    case AllreduceAlgorithm::recursive_doubling:
      add_hand_over(path, placement, bytes, true);
      for (Index distance = 1; distance < largest_power(placement.ranks); distance *= 2) {
        path.add({.pattern = Pattern::exchange, .bytes = bytes, .distance = distance, .combines = true});
      }
      add_hand_over(path, placement, bytes, false);
      break;
    case AllreduceAlgorithm::rabenseifner:
      add_hand_over(path, placement, bytes, true);
      add_halving(path, placement, bytes, true);
      add_halving(path, placement, bytes, false);
      add_hand_over(path, placement, bytes, false);
      break;
    case AllreduceAlgorithm::hierarchical: {
      const Index in_node = std::min(placement.ranks, placement.ranks_per_node);
      add_within_node(path, machine, in_node, bytes);
      return path.cost() + cost(AllreduceAlgorithm::ring, machine, {placement.nodes(), 1}, bytes, segment_bytes);
    }
  }
  return path.cost();
}

}  // namespace plait::model
