#include "plait/model/costs.hpp"
#include "plait/model/exchanges.hpp"
#include "plait/model/path.hpp"

namespace plait::model {

Cost cost(ReduceAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes, Index segment_bytes) {
  Path path(machine, placement, segment_bytes);
  switch (algorithm) {
    case ReduceAlgorithm::chain: path.add_chain(bytes, true); break;
    case ReduceAlgorithm::binomial: add_tree(path, placement, bytes, true); break;
    case ReduceAlgorithm::halving_gather:
      add_hand_over(path, placement, bytes, true);
      add_halving(path, placement, bytes, true);
      add_halving_tree(path, placement, bytes);
      break;
  }
  return path.cost();
}

}  // namespace plait::model
