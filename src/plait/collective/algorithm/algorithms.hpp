#pragma once

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/algorithm/hierarchical.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/model/algorithms.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

/// The builder of an algorithm that was chosen. Arguments, results and errors are those of the builders:
/// `broadcast_chain`, `reduce_chain`, `allreduce_ring`, `all_gather_ring`, `reduce_scatter_ring` and their like.

[[nodiscard]] Stream broadcast_by(model::BroadcastAlgorithm algorithm, Graph& graph, const Group& group, int root,
                                  const Stream& stream, Place data);
[[nodiscard]] Stream reduce_by(model::ReduceAlgorithm algorithm, Graph& graph, const Group& group, int root,
                               const Stream& stream, Place in, Place out, const schedule::Combine& combine);
/// `hierarchical` is by the nodes of the context and their NUMA domains, and a ring where the group is not all of it or
/// the operation does not commute: see `may_take_levels`.
/// \param way  of `hierarchical`, within nodes
[[nodiscard]] Stream allreduce_by(model::AllreduceAlgorithm algorithm, Graph& graph, const mpi::Context& context,
                                  const Group& group, const Stream& stream, Place in, Place out,
                                  const schedule::Combine& combine, const GroupWay& way = {});
/// Whether an allreduce can go through the levels of the machine: the same on all ranks.
[[nodiscard]] bool may_take_levels(const mpi::Context& context, const Group& group, const schedule::Combine& combine);
[[nodiscard]] Blocks all_gather_by(model::AllGatherAlgorithm algorithm, Graph& graph, const Group& group, Blocks blocks,
                                   Place data);
[[nodiscard]] Blocks reduce_scatter_by(model::ReduceScatterAlgorithm algorithm, Graph& graph, const Group& group,
                                       Blocks blocks, Place in, Place out, const schedule::Combine& combine);

/// Into how many messages the algorithm cuts a segment: what is chosen is the length of messages.
[[nodiscard]] int messages_of_segment(model::BroadcastAlgorithm algorithm, const Group& group) noexcept;
[[nodiscard]] int messages_of_segment(model::ReduceAlgorithm algorithm, const Group& group) noexcept;
[[nodiscard]] int messages_of_segment(model::AllreduceAlgorithm algorithm, const Group& group) noexcept;

}  // namespace plait::collective
