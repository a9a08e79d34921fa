#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_pool.hpp"
#include "plait/redistribute/tile.hpp"
#include "plait/schedule/flags.hpp"

namespace plait::redistribute {

/// Where the ranks of a node find each other's tiles that lie in shared memory, to read or to write them: a board for
/// each rank, on which it offers its tiles in every execution, a flag that it has, and for each visitor a flag that
/// this one is done with them.
class SharedTiles {
 public:
  /// Collective over the ranks of each node.
  /// \param tiles  the most that a rank of the node has
  /// \throws OutOfMemory  on every rank of a node that has too little shared memory
  SharedTiles(mpi::Context& context, Index tiles);

  /// A tile as another rank finds it.
  struct Entry {
    mpi::SharedPlace place;
    Index leading_dimension;
    StorageOrder order;
  };

  /// Ranks are those of the context, on this node. What a rank has offered is true between its two flags.
  [[nodiscard]] std::span<Entry> board(int rank) const;
  [[nodiscard]] Tile tile(int rank, Index entry) const;

  [[nodiscard]] const schedule::NodeFlags& flags(int owner) const { return flags_[at(owner)]; }
  [[nodiscard]] static Index ready() { return 0; }
  [[nodiscard]] Index done(int visitor) const { return 1 + context_->topology().node_rank_of(visitor); }

 private:
  [[nodiscard]] std::size_t at(int rank) const {
    return static_cast<std::size_t>(context_->topology().node_rank_of(rank));
  }

  mpi::Context* context_;
  Index tiles_;
  Index flag_bytes_;
  mpi::SharedPool::Lease memory_;
  std::vector<schedule::NodeFlags> flags_;  // by node rank of the owner
};

}  // namespace plait::redistribute
