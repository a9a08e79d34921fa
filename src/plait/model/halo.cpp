#include "plait/model/halo.hpp"

#include <algorithm>

#include "plait/model/algorithms.hpp"
#include "plait/model/costs.hpp"

namespace plait::model {

double seconds_a_step(const GhostedSteps& work, const Machine& machine, const Placement& placement, Index steps) {
  const Link& link = placement.nodes() > 1 ? machine.network : machine.node;
  double seconds = 0;
  std::array<Index, 3> extents = work.extents;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    if (!work.is_cut[a]) continue;
    const Index face = extents[0] * extents[1] * extents[2] / extents[a];
    // To both neighbours, one message behind the other.
    seconds += link.latency_seconds +
               2 * link.streams_of(placement.ranks_per_node).both_ways.seconds(steps * face * work.bytes_sent_a_point);
    extents[a] += 2 * steps;
  }
  const double bytes_a_second = machine.read_bytes_per_second / std::max(1, placement.ranks_per_node);
  for (Index layers = 0; layers < steps; ++layers) {
    Index points = 1;
    for (std::size_t a = 0; a < extents.size(); ++a)
      points *= work.extents[a] + (work.is_cut[a] || work.is_periodic[a] ? 2 * layers : 0);
    seconds += static_cast<double>(points * work.bytes_moved_a_point) / bytes_a_second;
  }
  if (work.bytes_reduced > 0 && placement.ranks > 1) {
    seconds += cost(AllreduceAlgorithm::recursive_doubling, machine, placement, work.bytes_reduced, work.bytes_reduced)
                   .first_seconds;
  }
  return seconds / static_cast<double>(steps);
}

Index best_steps_per_exchange(const GhostedSteps& work, const Machine& machine, const Placement& placement,
                              Index most) {
  Index best = 1;
  double least = seconds_a_step(work, machine, placement, 1);
  for (Index steps = 2; steps <= most; ++steps) {
    const double seconds = seconds_a_step(work, machine, placement, steps);
    constexpr double rounding = 1e-9;
    if (seconds < (1 - rounding) * least) least = seconds, best = steps;
  }
  return best;
}

}  // namespace plait::model
