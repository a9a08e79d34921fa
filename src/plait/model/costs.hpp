#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/model/algorithms.hpp"
#include "plait/model/cost.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/path.hpp"
#include "plait/model/placement.hpp"

namespace plait::model {

/// What a strand costs, for each algorithm of each operation: the forms of the literature, with latencies and
/// bandwidths by distance and by size of messages, and each message between the nodes of its own two ranks (see
/// `rounds`).
///
/// `bytes` is what a strand has of the whole vector: what the root has, what every rank contributes to a reduction, all
/// that an all-gather collects, what a reduce-scatter is given on each rank, what a rank sends to all ranks (itself
/// included) in an all-to-all. Of P ranks:
///
/// - broadcast, chain: the segments follow each other through P - 1 hops
/// - broadcast, binomial: ceil(log2 P) steps of all bytes
/// - broadcast, scatter_all_gather: down a binomial tree, each with the parts of those below; then a ring
/// - broadcast, scatter_doubling: the same, but gathered as all-gather, recursive_doubling does
/// - reduce, chain and binomial: as a broadcast backwards, everything that comes combined
/// - reduce, halving_gather: as reduce-scatter, recursive_halving; then up a binomial tree
/// - allreduce, ring: 2 (P - 1) steps of a P-th, half of them combined
/// - allreduce, recursive_doubling: exchanges of all bytes at distances 1, 2, 4, … of as many ranks as are a power of
///   two; for the others two more steps
/// - allreduce, rabenseifner: recursive halving, then recursive doubling of what every rank has then
/// - allreduce, hierarchical: within a node, every rank combines a part from shared memory; then rings of the ranks of
///   equal place on all nodes, or of the first ones where nodes differ; then the ranks of a node get the result
/// - all-gather, ring: P - 1 steps of a P-th
/// - all-gather, recursive_doubling: ceil(log2 P) steps of one P-th, two P-ths … to ranks 1, 2, 4, … before
/// - reduce-scatter: as an all-gather backwards, everything that comes combined
/// - all-to-all, pairwise: P - 1 exchanges of a P-th, one after the other; spread: all of them under way at once
///
/// Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005;
/// Pjesivac-Grbovic et al., "Performance analysis of MPI collective operations", 2007 (segments); Barnett et al.,
/// "Interprocessor collective communication library", 1994 (scatter and all-gather).
template <Algorithm A>
class Costs {
 public:
  /// Takes a time in proportion to the messages of one run: whoever asks for many lengths asks the same object.
  Costs(A algorithm, const Placement& placement);

  /// \pre  bytes >= 0 and segment_bytes >= 1
  [[nodiscard]] Cost of(const Machine& machine, Index bytes, Index segment_bytes) const;

 private:
  A algorithm_;
  int nodes_;
  int ranks_in_node_;
  std::vector<Step> steps_;
};

template <Algorithm A>
[[nodiscard]] Cost cost(A algorithm, const Machine& machine, const Placement& placement, Index bytes,
                        Index segment_bytes) {
  return Costs<A>(algorithm, placement).of(machine, bytes, segment_bytes);
}

}  // namespace plait::model
