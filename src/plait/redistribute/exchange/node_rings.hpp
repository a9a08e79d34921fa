#pragma once

#include <cstddef>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_pool.hpp"
#include "plait/schedule/flags.hpp"

namespace plait::redistribute {

/// What ranks of a node send to each other: the most of any pair.
struct NodeTraffic {
  Index longest_chunk = 0;  ///< in bytes
  Index most_chunks = 0;
};

/// How chunks go from rank to rank within a node: for each ordered pair of its ranks a ring of slots in memory that
/// they share, and for each slot two flags, one that the sender has filled it, one that the receiver has emptied it.
///
/// Chunk k of a pair uses slot k mod slots(), so that a sender is ahead by as many chunks at most.
class NodeRings {
 public:
  static constexpr Index most_slots = 8;

  /// The longest slot that rings of this context may have, at most `wanted` bytes: limited by what each rank may use
  /// for sending (`budget`) and by the shared memory of the node. The same on all ranks of a node; 0 where there is
  /// nobody to exchange with, or too little memory for slots of a useful length.
  [[nodiscard]] static Index longest_slot(mpi::Context& context, Index wanted, Index budget);

  /// Collective over the ranks of each node.
  /// \param traffic  the same on all ranks of the node
  /// \throws OutOfMemory  on every rank of a node that has too little shared memory
  NodeRings(mpi::Context& context, NodeTraffic traffic);

  /// As many as a pair has chunks, at most `most_slots`.
  [[nodiscard]] Index slots() const noexcept { return slots_; }

  /// Ranks are those of the context, both on this node, one of them this one.
  [[nodiscard]] std::byte* slot(int from, int to, Index chunk) const;
  [[nodiscard]] const schedule::NodeFlags& flags(int from) const { return flags_[at(from)]; }
  [[nodiscard]] Index filled(int to, Index chunk) const { return (local(to) * slots_ + chunk % slots_) * 2; }
  [[nodiscard]] Index emptied(int to, Index chunk) const { return filled(to, chunk) + 1; }

 private:
  [[nodiscard]] Index local(int rank) const { return topology_->node_rank_of(rank); }
  [[nodiscard]] std::size_t at(int rank) const { return static_cast<std::size_t>(local(rank)); }

  const mpi::NodeTopology* topology_;
  Index slots_;
  Index slot_bytes_;
  Index flag_bytes_;
  mpi::SharedPool::Lease memory_;
  std::vector<schedule::NodeFlags> flags_;  // by local rank of the sender
};

}  // namespace plait::redistribute
