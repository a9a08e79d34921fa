#pragma once

#include <cstddef>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/stream.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_pool.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/schedule/flags.hpp"

namespace plait::collective {

/// Memory that the ranks of a node share, through which one builder's chunks go: for each rank some slots, each with a
/// flag that the rank has filled it, and one that it is done with what the others have in theirs of the same number.
/// It outlives the schedule.
class NodeStages {
 public:
  /// For what is cut like this stream, also where it comes later. Local.
  NodeStages(const mpi::Context& context, const Stream& stream);
  /// Before anything else. Collective over the ranks of each node, with streams that are cut alike.
  /// \throws OutOfMemory  on every rank of a node that has too little shared memory
  void share_memory(mpi::Context& context);

  [[nodiscard]] Index slots() const noexcept { return slots_; }
  /// Of a rank of the context, on this node.
  [[nodiscard]] std::byte* slot(int rank, Index number) const;
  [[nodiscard]] const schedule::NodeFlags& flags(int rank) const { return flags_[at(rank)]; }
  [[nodiscard]] static Index filled(Index number) noexcept { return 2 * number; }
  [[nodiscard]] static Index done(Index number) noexcept { return 2 * number + 1; }

 private:
  [[nodiscard]] std::size_t at(int rank) const { return static_cast<std::size_t>(topology_->node_rank_of(rank)); }

  const mpi::NodeTopology* topology_;
  Index slots_;
  Index slot_bytes_;
  Index flag_bytes_;
  mpi::SharedPool::Lease memory_;
  std::vector<schedule::NodeFlags> flags_;  // by node rank
};

using schedule::Combine;

/// As `reduce_scatter_halving`, among ranks of one node through memory that they share: each rank puts the pieces of
/// the others into its slot, and reduces its own piece from all slots, from the left in the order of the group. Two
/// passes over the memory, however many ranks there are.
///
/// \param stages  for the stream that the blocks were split from; nothing else uses them
/// \pre  the ranks of the group share a node
[[nodiscard]] Blocks reduce_scatter_shared(Graph& graph, const Group& group, Blocks blocks, const Reducing& how,
                                           const NodeStages& stages);

/// As `all_gather_doubling`, likewise: each rank puts its piece into its slot, from where the others take it.
[[nodiscard]] Blocks all_gather_shared(Graph& graph, const Group& group, Blocks blocks, Place data,
                                       const NodeStages& stages);

}  // namespace plait::collective
