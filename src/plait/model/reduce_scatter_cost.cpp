#include "plait/model/costs.hpp"
#include "plait/model/exchanges.hpp"
#include "plait/model/path.hpp"

namespace plait::model {

Cost cost(ReduceScatterAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes,
          Index segment_bytes) {
  Path path(machine, placement, segment_bytes);
  switch (algorithm) {
    case ReduceScatterAlgorithm::ring: add_ring(path, placement, bytes, true); break;
    case ReduceScatterAlgorithm::recursive_halving:
      add_hand_over(path, placement, bytes, true);
      add_halving(path, placement, bytes, true);
      add_hand_over(path, placement, largest_part(bytes, placement.ranks), false);
      break;
  }
  return path.cost();
}

}  // namespace plait::model
