#pragma once

#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// out of all ranks ← in[0] op in[1] op … of the group's ranks; the same bits on all of them.

/// Each segment is reduce-scattered along the ring of the group, then all-gathered along it, in ranks pieces: each rank
/// sends 2 (ranks - 1) / ranks of the vector, which is as little as can be. For long vectors. A message is a piece, so
/// that segments are wanted that are as many times as long as messages should be as there are ranks: up to what MPI
/// sends at once (`mpi::network_message`), or 128 KB and more. Between two ranks the messages of a strand go one by
/// one, and one that has to wait holds up those behind it: four strands and more keep links busy that one does not. An
/// operation that does not commute is reduced by `reduce_scatter_halving`.
[[nodiscard]] Stream allreduce_ring(Graph& graph, const Group& group, const Stream& stream, Place in, Place out,
                                    const Combine& combine);

/// As much sent, but in 2 ⌈log₂ ranks⌉ rounds, for vectors of middling length: `reduce_scatter_halving`, then
/// `all_gather_doubling`.
///
/// Source: Rabenseifner, "Optimization of collective reduction operations", for any number of ranks by the two papers
/// that these name.
[[nodiscard]] Stream allreduce_rabenseifner(Graph& graph, const Group& group, const Stream& stream, Place in, Place out,
                                            const Combine& combine);

/// In log₂ ranks rounds that send all of a segment, between ranks at distances of 1, 2, 4, …: for short vectors. Each
/// of the two combines the lower operand with the higher one. Of ranks beyond a power of two, as many pairs of
/// neighbours at the beginning act as one rank each, which takes two more rounds.
[[nodiscard]] Stream allreduce_doubling(Graph& graph, const Group& group, const Stream& stream, Place in, Place out,
                                        const Combine& combine);

}  // namespace plait::collective
