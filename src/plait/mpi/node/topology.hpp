#pragma once

#include <vector>

#include "plait/base/counters.hpp"
#include "plait/base/vector.hpp"
#include "plait/mpi/communicator.hpp"

namespace plait::mpi {

/// Which ranks of a communicator share a node, and which of these a NUMA domain. Nodes are numbered by their lowest
/// rank.
class NodeTopology {
 public:
  /// Collective over `comm`.
  /// \throws OutOfMemory  on all ranks, where one has too little
  explicit NodeTopology(const Communicator& comm);

  /// This rank in `comm`.
  [[nodiscard]] int rank() const noexcept { return own_rank_; }
  /// The ranks of this rank's node, in the order of `comm`.
  [[nodiscard]] const Communicator& node() const noexcept { return node_; }
  [[nodiscard]] int nodes() const noexcept { return nodes_; }
  /// Of the node that has most.
  [[nodiscard]] int ranks_per_node() const noexcept { return ranks_per_node_; }
  [[nodiscard]] const std::vector<int>& nodes_of_ranks() const noexcept { return node_of_; }
  [[nodiscard]] int node_of(int rank) const { return node_of_[rank]; }
  /// The NUMA domain whose cores a rank may run on, as the kernel of its node numbers it; -1 where these are of several
  /// domains, or that is unknown.
  [[nodiscard]] int domain_of(int rank) const { return domain_of_[rank]; }
  /// The how-manieth of its node a rank is, in the order of `comm`.
  [[nodiscard]] int node_rank_of(int rank) const { return node_rank_of_[rank]; }
  /// How many threads this rank can have without taking cores from others of its node that may run on the same ones.
  [[nodiscard]] int fair_threads() const noexcept { return fair_threads_; }
  [[nodiscard]] PeerClass class_of(int rank) const {
    if (rank == own_rank_) return PeerClass::self;
    return node_of(rank) == node_of(own_rank_) ? PeerClass::node : PeerClass::network;
  }

 private:
  Communicator node_;
  Vector<int> node_of_;
  Vector<int> node_rank_of_;
  Vector<int> domain_of_;
  int own_rank_;
  int nodes_ = 0;
  int ranks_per_node_ = 0;
  int fair_threads_ = 1;
};

}  // namespace plait::mpi
