#pragma once

#include "plait/collective/algorithm/tree.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// How pieces come from all ranks to all: `all_gather_ring` or `all_gather_doubling`.
enum class AllGatherWay : unsigned char { ring, doubling };

/// data of all ranks ← data of `root`: each segment is scattered along a tree, a piece for each rank, then
/// all-gathered. The root sends each element about twice, the others about once, in as few hops as 2 ⌈log₂ ranks⌉: for
/// vectors that are too long for a binomial tree, and too short to fill a chain.
///
/// Builders append this rank's part; every rank of the group appends its own, and the others may.
///
/// \param root    the how-manieth of the group
/// \param stream  of the elements; what it is final after counts on the root
/// \return        the elements as they are final on each rank
/// \throws ArgumentError  `root` is none of the group
[[nodiscard]] Stream broadcast_scatter_all_gather(Graph& graph, const Group& group, int root, TreeShape shape,
                                                  AllGatherWay way, const Stream& stream, Place data);

/// out of `root` ← in[0] op in[1] op … of the group's ranks, in this order unless `combine` commutes: each segment is
/// reduce-scattered by `reduce_scatter_halving`, which combines on all ranks at once, then gathered along a tree.
/// Results pass through staging memory, a piece of a segment at a time.
///
/// \param in   of every rank; `stream` tells since when it is there
/// \param out  looked at on the root alone; may be `in`, otherwise it does not overlap it
/// \throws ArgumentError  `root` is none of the group; elements of another size than `combine` has; `combine` sums up
///                        all operands at once
[[nodiscard]] Stream reduce_halving_gather(Graph& graph, const Group& group, int root, TreeShape shape,
                                           const Stream& stream, Place in, Place out, const Combine& combine);

}  // namespace plait::collective
