#include "plait/model/costs.hpp"
#include "plait/model/exchanges.hpp"
#include "plait/model/path.hpp"

namespace plait::model {

Cost cost(BroadcastAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes, Index segment_bytes) {
  Path path(machine, placement, segment_bytes);
  switch (algorithm) {
    case BroadcastAlgorithm::chain: path.add_chain(bytes, false); break;
    case BroadcastAlgorithm::binomial: add_tree(path, placement, bytes, false); break;
    case BroadcastAlgorithm::scatter_all_gather:
      add_halving_tree(path, placement, bytes);
      add_ring(path, placement, bytes, false);
      break;
  }
  return path.cost();
}

}  // namespace plait::model
