#pragma once

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/algorithm/node_stages.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// As `reduce_scatter_halving`, among ranks of one node through memory that they share: each rank puts the pieces of
/// the others into its slot, and reduces its own piece from all slots, from the left in the order of the group. Two
/// passes over the memory, however many ranks there are.
///
/// \param stages  for the stream that the blocks were split from; nothing else uses them
/// \pre  the ranks of the group share a node
[[nodiscard]] Blocks reduce_scatter_shared(Graph& graph, const Group& group, Blocks blocks, Place in, Place out,
                                           const Combine& combine, const NodeStages& stages);

/// As `all_gather_doubling`, likewise: each rank puts its piece into its slot, from where the others take it.
[[nodiscard]] Blocks all_gather_shared(Graph& graph, const Group& group, Blocks blocks, Place data,
                                       const NodeStages& stages);

}  // namespace plait::collective
