#pragma once

#include <cstddef>
#include <memory>
#include <span>
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

/// Memory that the ranks of a node share, for rings that are never used at the same time: they have their slots in
/// common, and flags of their own. It grows with what they ask for.
class RingMemory {
  struct Region {
    mpi::SharedPool::Lease memory;  // flags, then slots
    Index flag_bytes;
    Index pair_bytes;
  };
  /// The flags of a part.
  struct Block {
    const Region* region;
    Index offset;
  };

 public:
  static constexpr Index most_slots = 8;  ///< of a pair of ranks

  explicit RingMemory(mpi::Context& context);

  /// What the rings of one plan have of it.
  class Part {
   public:
    /// Collective over the ranks of each node, which have heard of each other since one of them gave a part back.
    /// \param pair_bytes  for the slots of each pair of ranks; the same on all of them
    /// \throws OutOfMemory  on every rank of a node that has too little shared memory
    Part(std::shared_ptr<RingMemory> whole, Index pair_bytes);
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    /// Local.
    ~Part();

    /// Where the slots begin in which one rank of the node sends to another.
    [[nodiscard]] std::byte* slots(Index sender, Index receiver) const;
    /// Of the rings in which that rank of the node sends; zero before they are first used.
    [[nodiscard]] schedule::NodeFlags flags(Index sender) const;

   private:
    [[nodiscard]] std::span<std::byte> flags_of(Index sender) const;

    std::shared_ptr<RingMemory> whole_;
    const Region* slots_;
    Block block_;
  };

  /// Bytes of a rank's memory that flags take at least.
  [[nodiscard]] static Index least_flag_bytes(Index ranks);

 private:
  void grow(Index pair_bytes);

  mpi::Context* context_;
  Index ranks_;
  std::vector<std::unique_ptr<Region>> regions_;
  const Region* slots_ = nullptr;   // the longest ones
  std::vector<Block> free_blocks_;  // in the same order on all ranks; there is room for all blocks
  Index blocks_ = 0;
};

/// How chunks go from rank to rank within a node: for each ordered pair of its ranks a ring of slots in memory that
/// they share, and for each slot two flags, one that the sender has filled it, one that the receiver has emptied it.
///
/// Chunk k of a pair uses slot k mod slots(), so that a sender is ahead by as many chunks at most. When a rank's part
/// of an execution is over, all slots in which it has sent are empty, so the next execution may have other slots there.
class NodeRings {
 public:
  /// The longest slot that rings of this context may have, at most `wanted` bytes: limited by what each rank may use
  /// for sending (`budget`) and by the shared memory of the node. The same on all ranks of a node; 0 where there is
  /// nobody to exchange with, or too little memory for slots of a useful length.
  [[nodiscard]] static Index longest_slot(mpi::Context& context, Index wanted, Index budget);

  /// Collective over the ranks of each node.
  /// \param traffic  the same on all ranks of the node
  /// \throws OutOfMemory  on every rank of a node that has too little shared memory
  NodeRings(mpi::Context& context, NodeTraffic traffic, std::shared_ptr<RingMemory> memory);

  /// As many as a pair has chunks, at most `most_slots`.
  [[nodiscard]] Index slots() const noexcept { return slots_; }

  /// Ranks are those of the context, both on this node, one of them this one.
  [[nodiscard]] std::byte* slot(int from, int to, Index chunk) const;
  [[nodiscard]] schedule::NodeFlags flags(int from) const { return memory_.flags(local(from)); }
  [[nodiscard]] Index filled(int to, Index chunk) const { return (local(to) * slots_ + chunk % slots_) * 2; }
  [[nodiscard]] Index emptied(int to, Index chunk) const { return filled(to, chunk) + 1; }

 private:
  [[nodiscard]] Index local(int rank) const { return topology_->node_rank_of(rank); }

  const mpi::NodeTopology* topology_;
  Index slots_;
  Index slot_bytes_;
  RingMemory::Part memory_;
};

}  // namespace plait::redistribute
