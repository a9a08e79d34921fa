#pragma once

#include "plait/base/index.hpp"
#include "plait/model/algorithms.hpp"
#include "plait/model/cost.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"

/// What a strand costs, for each algorithm of each operation: the forms of the literature, with latencies and
/// bandwidths by distance and by size of messages.
///
/// `bytes` is what a strand has of the whole vector: what the root has, what every rank contributes to a reduction, all
/// that an all-gather collects, what a reduce-scatter is given on each rank, what a rank sends to all ranks (itself
/// included) in an all-to-all.
///
/// Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005;
/// Pjesivac-Grbovic et al., "Performance analysis of MPI collective operations", 2007 (segments); Barnett et al.,
/// "Interprocessor collective communication library", 1994 (scatter and all-gather).
/// \pre  bytes >= 0 and segment_bytes >= 1
namespace plait::model {

/// chain:               the segments follow each other through P - 1 hops
/// binomial:            ceil(log2 P) steps of all bytes
/// scatter_all_gather:  down a binomial tree, half of the rest in each step; then P - 1 steps of a P-th around a ring
[[nodiscard]] Cost cost(BroadcastAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes,
                        Index segment_bytes);

/// chain, binomial:  as a broadcast backwards, everything that comes combined
/// halving_gather:   recursive halving, then up a binomial tree, twice as much in each step
[[nodiscard]] Cost cost(ReduceAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes,
                        Index segment_bytes);

/// ring:                2 (P - 1) steps of a P-th, half of them combined
/// recursive_doubling:  log2 P exchanges of all bytes
/// rabenseifner:        recursive halving, then doubling: 2 log2 P exchanges of a half, a quarter …
/// hierarchical:        within a node, every rank combines a part from shared memory; a ring of one rank of each node;
///                      then the ranks of a node copy the result
[[nodiscard]] Cost cost(AllreduceAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes,
                        Index segment_bytes);

/// ring:                P - 1 steps of a P-th
/// recursive_doubling:  log2 P exchanges of a P-th, two P-ths …
[[nodiscard]] Cost cost(AllGatherAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes,
                        Index segment_bytes);

/// ring:               P - 1 steps of a P-th
/// recursive_halving:  log2 P exchanges of a half, a quarter …
[[nodiscard]] Cost cost(ReduceScatterAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes,
                        Index segment_bytes);

/// pairwise:  P - 1 exchanges of a P-th, one after the other
/// spread:    all of them under way at once
[[nodiscard]] Cost cost(AllToAllAlgorithm algorithm, const Machine& machine, Placement placement, Index bytes,
                        Index segment_bytes);

}  // namespace plait::model
