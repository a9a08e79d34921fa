#pragma once

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/algorithm/tree.hpp"
#include "plait/collective/group.hpp"

namespace plait::collective {

/// The block of each rank in out ← the same in in of `root`. Along a tree: of each chunk, what belongs to a subtree
/// travels to its head in one message, or one for each stretch of it where the chunk has gaps. The linear tree sends
/// every piece straight to where it belongs, once; the binomial one makes the fewest hops.
///
/// Builders append this rank's part; every rank of the group appends its own, and the others may.
///
/// \param root    the how-manieth of the group
/// \param blocks  one for each rank of the group; what they are final after counts on the root, and on the others
///                since when `out` may be overwritten
/// \param in      of the root: the whole vector
/// \param out     looked at where this rank's block is; `in`, or this block does not overlap it
/// \return        the blocks; this rank's own is final in `out`, of the others it tells on the root what reads `in`
/// \throws ArgumentError  `root` is none of the group; more or fewer blocks than ranks
[[nodiscard]] Blocks scatter(Graph& graph, const Group& group, int root, TreeShape shape, Blocks blocks, Place in,
                             Place out);

/// out of `root` ← the block of each rank in its in: `scatter` run backwards.
///
/// \param blocks  one for each rank of the group; what this rank's own is final after counts, and on the root since
///                when `out` may be overwritten
/// \param in      looked at where this rank's block is
/// \param out     of the root: the whole vector; `in`, or it does not overlap its own block there
/// \return        the blocks; all are final on the root, of this rank's own it tells what reads it
/// \throws ArgumentError  `root` is none of the group; more or fewer blocks than ranks
[[nodiscard]] Blocks gather(Graph& graph, const Group& group, int root, TreeShape shape, Blocks blocks,
                            const Places& in, Place out);

}  // namespace plait::collective
