#pragma once

#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// data of all ranks ← data of `root`. Along a binomial tree: in each of ⌈log2 ranks⌉ hops, each rank that has a
/// segment passes it on. The least hops that there are, for short vectors; the root sends a long one as many times.
///
/// Builders append this rank's part; every rank of the group appends its own, and the others may.
///
/// \param root    the how-manieth of the group
/// \param stream  of the elements; what it is final after counts on the root
/// \return        the elements as they are final on each rank
/// \throws ArgumentError  `root` is none of the group
[[nodiscard]] Stream broadcast_binomial(Graph& graph, const Group& group, int root, const Stream& stream, Place data);

/// out of `root` ← in[0] op in[1] op … of the group's ranks, in the order of the group; along the tree that
/// `broadcast_binomial` makes, run through from its leaves. What is combined with what does not depend on the root, so
/// the result has the same bits whichever it is.
///
/// \param in   of every rank; `stream` tells since when it is there
/// \param out  looked at on the root alone; may be `in`, otherwise it does not overlap it
/// \throws ArgumentError  `root` is none of the group; elements of another size than `combine` has; `combine` sums up
///                        all operands at once
[[nodiscard]] Stream reduce_binomial(Graph& graph, const Group& group, int root, const Stream& stream, Place in,
                                     Place out, const Combine& combine);

}  // namespace plait::collective
