#include "plait/model/exchanges.hpp"

namespace plait::model {

void add_ring(Path& path, Placement placement, Index bytes, bool combines) {
  path.add({.pattern = Pattern::shift, .bytes = largest_part(bytes, placement.ranks), .combines = combines},
           placement.ranks - 1);
}

void add_hand_over(Path& path, Placement placement, Index bytes, bool combines) {
  if (largest_power(placement.ranks) == placement.ranks) return;
  path.add({.pattern = Pattern::tree, .bytes = bytes, .combines = combines});
}

void add_halving(Path& path, Placement placement, Index bytes, bool combines) {
  const Index ranks = largest_power(placement.ranks);
  for (Index distance = 1; distance < ranks; distance *= 2) {
    path.add({.pattern = Pattern::exchange,
              .bytes = largest_part(bytes, 2 * distance),
              .distance = distance,
              .combines = combines});
  }
}

void add_halving_tree(Path& path, Placement placement, Index bytes) {
  Index parts = 2;
  for (Index distance = Index{1} << tree_depth(placement.ranks); distance > 1; parts *= 2) {
    distance /= 2;
    path.add({.pattern = Pattern::tree, .bytes = largest_part(bytes, parts), .distance = distance});
  }
}

void add_tree(Path& path, Placement placement, Index bytes, bool combines) {
  for (Index distance = Index{1} << tree_depth(placement.ranks); distance > 1;) {
    distance /= 2;
    path.add({.pattern = Pattern::tree, .bytes = bytes, .distance = distance, .combines = combines});
  }
}

}  // namespace plait::model
