#pragma once

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/group.hpp"

namespace plait::collective {

/// data of all ranks ← the block of each rank, at its place. Each element comes to each rank once.

/// Along the ring of the group: each rank passes to the one before what has come from the next one, piece by piece; a
/// chunk takes ranks - 1 hops, and all links carry alike. For long vectors.
[[nodiscard]] Blocks all_gather_ring(Graph& graph, const Group& group, Blocks blocks, Place data);

/// In ⌈log₂ ranks⌉ rounds, for any number of ranks: in the k-th one, each rank gets from the rank 2ᵏ places further all
/// that this one has until then, as far as it lacks it, in one message, or two where it goes beyond the last rank. For
/// short vectors.
///
/// Source: Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems",
/// without the rotation: every block lies at its place from the beginning.
[[nodiscard]] Blocks all_gather_doubling(Graph& graph, const Group& group, Blocks blocks, Place data);

}  // namespace plait::collective
