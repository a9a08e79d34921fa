#include "plait/model/costs.hpp"

#include <algorithm>
#include <type_traits>

#include "plait/base/rounding.hpp"
#include "plait/model/rounds.hpp"

namespace plait::model {

namespace {

// Reduce-scatter among the ranks of a node, by loads from each other's memory; then, at the other end, each rank copies
// the whole. The copies of all ranks share the memory's rate.
double seconds_within_node(const Machine& machine, Index ranks, Index bytes) {
  if (ranks == 1) return 0;
  const auto part = static_cast<double>(quotient_up(bytes, ranks));
  const auto others = static_cast<double>(ranks - 1);
  const double copied = static_cast<double>(ranks * bytes) / machine.copy_bytes_per_second;
  return 2 * machine.node.latency_seconds + others * part / machine.combine_bytes_per_second + copied;
}

}  // namespace

template <Algorithm A>
Costs<A>::Costs(A algorithm, const Placement& placement)
    : algorithm_(algorithm),
      nodes_(placement.nodes()),
      ranks_in_node_(std::min(placement.ranks, placement.ranks_per_node)),
      steps_(steps_of(rounds(algorithm, placement), placement)) {}

template <Algorithm A>
Cost Costs<A>::of(const Machine& machine, Index bytes, Index segment_bytes) const {
  if (bytes == 0) return {};
  Path path(machine, segment_bytes);
  if constexpr (std::is_same_v<A, AllreduceAlgorithm>) {
    if (algorithm_ == A::hierarchical) path.add_core(seconds_within_node(machine, ranks_in_node_, bytes));
  }
  for (const Step& step : steps_) path.add(step, bytes);
  Cost all = path.cost();
  if constexpr (std::is_same_v<A, AllToAllAlgorithm>) {
    if (algorithm_ == A::pairwise || steps_.empty()) return all;
    const Link& link = nodes_ == 1 ? machine.node : machine.network;
    all.first_seconds = link.latency_seconds + std::max(all.network_seconds, all.core_seconds);
  }
  return all;
}

template class Costs<BroadcastAlgorithm>;
template class Costs<ReduceAlgorithm>;
template class Costs<AllreduceAlgorithm>;
template class Costs<AllGatherAlgorithm>;
template class Costs<ReduceScatterAlgorithm>;
template class Costs<AllToAllAlgorithm>;

}  // namespace plait::model
