#pragma once

#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// data of all ranks ← data of `root`. Along a chain that begins at the root: each rank passes a segment on as soon as
/// it has come, so that a long vector takes about the time that it takes to send it once, however many ranks there are;
/// and k segments take k + ranks - 2 hops. Every rank but the last one sends each element once.
///
/// Builders append this rank's part; every rank of the group appends its own, and the others may.
///
/// \param root    the how-manieth of the group
/// \param stream  of the elements; what it is final after counts on the root
/// \return        the elements as they are final on each rank
/// \throws ArgumentError  `root` is none of the group
[[nodiscard]] Stream broadcast_chain(Graph& graph, const Group& group, int root, const Stream& stream, Place data);

/// out of `root` ← in[0] op in[1] op … of the group's ranks, in the order of the group unless `combine` commutes; then
/// the chain that `broadcast_chain` makes, run through from its end. A chain that keeps the order ends at the group's
/// first rank, which hands the result to the root: one hop more.
///
/// \param in   of every rank; `stream` tells since when it is there
/// \param out  looked at on the root alone; may be `in`, otherwise it does not overlap it
/// \throws ArgumentError  `root` is none of the group; elements of another size than `combine` has; `combine` sums up
///                        all operands at once
[[nodiscard]] Stream reduce_chain(Graph& graph, const Group& group, int root, const Stream& stream, Place in, Place out,
                                  const Combine& combine);

/// The same on staging memory that several chains share: blocks as long as their longest segments.
[[nodiscard]] Stream reduce_chain(Graph& graph, const Group& group, int root, const Stream& stream, Place in, Place out,
                                  const Combine& combine, PoolId staging);

}  // namespace plait::collective
