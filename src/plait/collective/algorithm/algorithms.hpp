#pragma once

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/algorithm/hierarchical.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/model/algorithms.hpp"
#include "plait/model/choice.hpp"
#include "plait/model/known_alternatives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

/// How an operation among ranks of a context is carried out, by the description of the machine that the context has. A
/// function of what all ranks know, so that all choose the same; told to the context's listener, if it has one.
///
/// \throws ArgumentError  as `model::choose`
template <model::Algorithm A>
[[nodiscard]] model::Choice<A> choose(mpi::Context& context, const model::Placement& placement, Index bytes,
                                      const model::Wishes<A>& wishes = {}) {
  auto choice = model::choose<A>(context.machine(), context.choices().alternatives().of<A>(placement), bytes, wishes);
  if (context.choices().are_told()) context.choices().note(model::describe(choice, placement, bytes));
  return choice;
}

/// The builder of an algorithm that was chosen. Arguments, results and errors are those of the builders:
/// `broadcast_chain`, `reduce_chain`, `allreduce_ring`, `all_gather_ring`, `reduce_scatter_ring` and their like.

[[nodiscard]] Stream broadcast_by(model::BroadcastAlgorithm algorithm, Graph& graph, const Group& group, int root,
                                  const Stream& stream, Place data);
[[nodiscard]] Stream reduce_by(model::ReduceAlgorithm algorithm, Graph& graph, const Group& group, int root,
                               const Stream& stream, const Reducing& how);
/// `hierarchical` is by the nodes of the context and their NUMA domains, and a ring where the group is not all of it or
/// the operation does not commute: see `may_take_levels`.
/// \param way  of `hierarchical`, within nodes
[[nodiscard]] Stream allreduce_by(model::AllreduceAlgorithm algorithm, Graph& graph, const mpi::Context& context,
                                  const Group& group, const Stream& stream, const Reducing& how,
                                  const GroupWay& way = {});
/// Whether an allreduce can go through the levels of the machine: the same on all ranks.
[[nodiscard]] bool may_take_levels(const mpi::Context& context, const Group& group, const schedule::Combine& combine);
[[nodiscard]] Blocks all_gather_by(model::AllGatherAlgorithm algorithm, Graph& graph, const Group& group, Blocks blocks,
                                   Place data);
[[nodiscard]] Blocks reduce_scatter_by(model::ReduceScatterAlgorithm algorithm, Graph& graph, const Group& group,
                                       Blocks blocks, const Reducing& how);

/// Into how many messages the algorithm cuts a segment: what is chosen is the length of messages.
[[nodiscard]] int messages_of_segment(model::BroadcastAlgorithm algorithm, const Group& group) noexcept;
[[nodiscard]] int messages_of_segment(model::ReduceAlgorithm algorithm, const Group& group) noexcept;
[[nodiscard]] int messages_of_segment(model::AllreduceAlgorithm algorithm, const Group& group) noexcept;

}  // namespace plait::collective
