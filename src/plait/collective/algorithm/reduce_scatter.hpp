#pragma once

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/group.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// Block i of `out` on the i-th rank ← in[0] op in[1] op … of the group's ranks. Of the blocks returned this rank's own
/// is its result; the others tell what reads the operand.

/// Along the ring of the group: ranks - 1 hops; the result of a block begins with the operand of the rank before its
/// own. For long vectors. An operation that does not commute is combined by `reduce_scatter_halving`.
[[nodiscard]] Blocks reduce_scatter_ring(Graph& graph, const Group& group, Blocks blocks, Place in, Place out,
                                         const Combine& combine);

/// In ⌈log₂ ranks⌉ rounds, each element combined as often as it has to be, for any number of ranks, if the operation
/// commutes: what `all_gather_doubling` does, backwards.
///
/// Otherwise by recursive halving between ranks at distances of 1, 2, 4, …, so that operands keep their order: of the
/// pieces that a rank deals with in round k, it hands over those whose number differs from its own in the k-th bit. Of
/// ranks beyond a power of two, as many pairs of neighbours at the beginning act as one rank each; two more rounds.
///
/// Source: Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms" for the first way; COFFEE, section
/// V.A and Fig. 6, for the second.
[[nodiscard]] Blocks reduce_scatter_halving(Graph& graph, const Group& group, Blocks blocks, Place in, Place out,
                                            const Combine& combine);

/// The same, with a place for the results of each chunk.
[[nodiscard]] Blocks reduce_scatter_halving(Graph& graph, const Group& group, Blocks blocks, Place in,
                                            const Places& out, const Combine& combine);

/// Where the vector would lie if this rank's block were at the beginning of `out`: what to give as `out` to have it
/// there, as MPI wants it, unless it is reduced in place.
[[nodiscard]] Place at_beginning(const Group& group, const Blocks& blocks, Place out);

}  // namespace plait::collective
