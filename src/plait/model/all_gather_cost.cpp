#include "plait/model/costs.hpp"
#include "plait/model/exchanges.hpp"
#include "plait/model/path.hpp"

namespace plait::model {

Cost cost(AllGatherAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes, Index segment_bytes) {
  Path path(machine, placement, segment_bytes);
  switch (algorithm) {
    case AllGatherAlgorithm::ring: add_ring(path, placement, bytes, false); break;
    case AllGatherAlgorithm::recursive_doubling:
      add_hand_over(path, placement, largest_part(bytes, placement.ranks), false);
      add_halving(path, placement, bytes, false);
      add_hand_over(path, placement, bytes, false);
      break;
  }
  return path.cost();
}

}  // namespace plait::model
