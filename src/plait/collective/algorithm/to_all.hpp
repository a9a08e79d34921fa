#pragma once

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/schedule/combine.hpp"

/// Builders of what all ranks of a group get something of.
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

/// Block i of `out` on the i-th rank ← in[0] op in[1] op … of the group's ranks. Of the blocks returned this rank's own
/// is its result; the others tell what reads the operand.

/// Along the ring of the group: ranks - 1 hops; the result of a block begins with the operand of the rank before its
/// own. For long vectors. An operation that does not commute is combined by `reduce_scatter_halving`.
[[nodiscard]] Blocks reduce_scatter_ring(Graph& graph, const Group& group, Blocks blocks, const Reducing& how);

/// In ⌈log₂ ranks⌉ rounds, each element combined as often as it has to be, for any number of ranks, if the operation
/// commutes: what `all_gather_doubling` does, backwards.
///
/// Otherwise by recursive halving between ranks at distances of 1, 2, 4, …, so that operands keep their order: of the
/// pieces that a rank deals with in round k, it hands over those whose number differs from its own in the k-th bit. Of
/// ranks beyond a power of two, as many pairs of neighbours at the beginning act as one rank each; two more rounds.
///
/// Source: Träff, "Optimal, non-pipelined reduce-scatter and allreduce algorithms" for the first way; COFFEE, section
/// V.A and Fig. 6, for the second.
[[nodiscard]] Blocks reduce_scatter_halving(Graph& graph, const Group& group, Blocks blocks, const Reducing& how);

/// The same, with a place for the results of each chunk instead of `how.out`.
[[nodiscard]] Blocks reduce_scatter_halving(Graph& graph, const Group& group, Blocks blocks, const Reducing& how,
                                            const Places& out);

/// Where the vector would lie if this rank's block were at the beginning of `out`: what to give as `out` to have it
/// there, as MPI wants it, unless it is reduced in place.
[[nodiscard]] Place at_beginning(const Group& group, const Blocks& blocks, Place out);

/// out of all ranks ← in[0] op in[1] op … of the group's ranks; the same bits on all of them.

/// Each segment is reduce-scattered along the ring of the group, then all-gathered along it, in ranks pieces: each rank
/// sends 2 (ranks - 1) / ranks of the vector, which is as little as can be. For long vectors. A message is a piece, so
/// that segments are wanted that are as many times as long as messages should be as there are ranks: up to what MPI
/// sends at once (`mpi::network_message`), or 128 KB and more. Between two ranks the messages of a strand go one by
/// one, and one that has to wait holds up those behind it: four strands and more keep links busy that one does not. An
/// operation that does not commute is reduced by `reduce_scatter_halving`.
[[nodiscard]] Stream allreduce_ring(Graph& graph, const Group& group, const Stream& stream, const Reducing& how);

/// As much sent, but in 2 ⌈log₂ ranks⌉ rounds, for vectors of middling length: `reduce_scatter_halving`, then
/// `all_gather_doubling`.
///
/// Source: Rabenseifner, "Optimization of collective reduction operations", for any number of ranks by the two papers
/// that these name.
[[nodiscard]] Stream allreduce_rabenseifner(Graph& graph, const Group& group, const Stream& stream,
                                            const Reducing& how);

/// In log₂ ranks rounds that send all of a segment, between ranks at distances of 1, 2, 4, …: for short vectors. Each
/// of the two combines the lower operand with the higher one. Of ranks beyond a power of two, as many pairs of
/// neighbours at the beginning act as one rank each, which takes two more rounds.
[[nodiscard]] Stream allreduce_doubling(Graph& graph, const Group& group, const Stream& stream, const Reducing& how);

}  // namespace plait::collective
