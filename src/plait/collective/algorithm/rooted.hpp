#pragma once

#include <vector>

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

/// data of all ranks ← data of `root`. Along a chain that begins at the root: each rank passes a segment on as soon as
/// it has come, so that a long vector takes about the time that it takes to send it once, however many ranks there are;
/// and k segments take k + ranks - 2 hops. Every rank but the last one sends each element once.
[[nodiscard]] Stream broadcast_chain(Graph& graph, const Group& group, int root, const Stream& stream, Place data);

/// out of `root` ← in[0] op in[1] op … of the group's ranks, along the chain that `broadcast_chain` makes, from its
/// end. One that keeps the order of operands ends at the group's first rank, which hands the result to the root: one
/// hop more.
[[nodiscard]] Stream reduce_chain(Graph& graph, const Group& group, int root, const Stream& stream,
                                  const Reducing& how);

/// The same on staging memory that several chains share: blocks as long as their longest segments.
[[nodiscard]] Stream reduce_chain(Graph& graph, const Group& group, int root, const Stream& stream, const Reducing& how,
                                  PoolId staging);

/// binomial: of logarithmic depth; linear: everybody is joined to the root, which is better for long messages that
/// differ.
enum class TreeShape : unsigned char { binomial, linear };

/// A tree over 0 … size - 1, as one of them sees it. Subtrees have consecutive members, wherever the root is: those of
/// a binomial tree are the blocks of 2^k that begin at multiples of 2^k, each headed by its first member, but for those
/// that the root is in. So what is combined along it keeps its order, and is combined alike for all roots.
struct Tree {
  /// Connections of the same level are used at one time; on a path to the root, levels rise.
  struct Child {
    int index;
    int level;
    int first, last;  ///< its subtree: [first, last)
  };
  int first, last;              ///< the own subtree: [first, last)
  int parent = -1;              ///< -1 at the root
  int parent_level = 0;         ///< of the connection to it
  std::vector<Child> children;  ///< by their levels, from the lowest on
};

[[nodiscard]] Tree tree(TreeShape shape, int size, int root, int me);

/// How many levels a tree has, whichever its root is.
[[nodiscard]] int depth(TreeShape shape, int size) noexcept;

/// data of all ranks ← data of `root`. Along a binomial tree: in each of ⌈log2 ranks⌉ hops, each rank that has a
/// segment passes it on. The least hops that there are, for short vectors; the root sends a long one as many times.
[[nodiscard]] Stream broadcast_binomial(Graph& graph, const Group& group, int root, const Stream& stream, Place data);

/// out of `root` ← in[0] op in[1] op … of the group's ranks, always in this order, along the tree that
/// `broadcast_binomial` makes, from its leaves. What is combined with what does not depend on the root, so the result
/// has the same bits whichever it is.
[[nodiscard]] Stream reduce_binomial(Graph& graph, const Group& group, int root, const Stream& stream,
                                     const Reducing& how);

/// The block of each rank in out ← the same in in of `root`. Along a tree: of each chunk, what belongs to a subtree
/// travels to its head in one message, or one for each stretch of it where the chunk has gaps. The linear tree sends
/// every piece straight to where it belongs, once; the binomial one makes the fewest hops.
/// Of the blocks returned this rank's own is final; the others tell on the root what reads `in`.
[[nodiscard]] Blocks scatter(Graph& graph, const Group& group, int root, TreeShape shape, Blocks blocks, Place in,
                             Place out);

/// out of `root` ← the block of each rank in its in: `scatter` run backwards. Of the blocks returned all are final on
/// the root; this rank's own tells what reads it.
[[nodiscard]] Blocks gather(Graph& graph, const Group& group, int root, TreeShape shape, Blocks blocks,
                            const Places& in, Place out);

/// How pieces come from all ranks to all: `all_gather_ring` or `all_gather_doubling`.
enum class AllGatherWay : unsigned char { ring, doubling };

/// data of all ranks ← data of `root`: each segment is scattered along a tree, a piece for each rank, then
/// all-gathered. The root sends each element about twice, the others about once, in as few hops as 2 ⌈log₂ ranks⌉: for
/// vectors that are too long for a binomial tree, and too short to fill a chain.
[[nodiscard]] Stream broadcast_scatter_all_gather(Graph& graph, const Group& group, int root, TreeShape shape,
                                                  AllGatherWay way, const Stream& stream, Place data);

/// out of `root` ← in[0] op in[1] op … of the group's ranks: each segment is reduce-scattered by
/// `reduce_scatter_halving`, which combines on all ranks at once, then gathered along a tree. Results pass through
/// staging memory, a piece of a segment at a time.
[[nodiscard]] Stream reduce_halving_gather(Graph& graph, const Group& group, int root, TreeShape shape,
                                           const Stream& stream, const Reducing& how);

}  // namespace plait::collective
