#pragma once

#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// data of all ranks ← data of `root`. Along a chain that begins at the root: each rank passes a segment on as soon as
/// it has come, so that a long vector takes about the time that it takes to send it once, however many ranks there are;
/// and k segments take k + ranks - 2 hops. Every rank but the last one sends each element once.
[[nodiscard]] Stream broadcast_chain(Graph& graph, const Group& group, int root, const Stream& stream, Place data);

/// out of `root` ← in[0] op in[1] op … of the group's ranks, along the chain that `broadcast_chain` makes, from its
/// end. One that keeps the order of operands ends at the group's first rank, which hands the result to the root: one
/// hop more.
[[nodiscard]] Stream reduce_chain(Graph& graph, const Group& group, int root, const Stream& stream, Place in, Place out,
                                  const Combine& combine);

/// The same on staging memory that several chains share: blocks as long as their longest segments.
[[nodiscard]] Stream reduce_chain(Graph& graph, const Group& group, int root, const Stream& stream, Place in, Place out,
                                  const Combine& combine, PoolId staging);

}  // namespace plait::collective
