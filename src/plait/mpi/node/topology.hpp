#pragma once

#include <sched.h>

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
  /// Index of a rank on its node, in the order of `comm`.
  [[nodiscard]] int node_rank_of(int rank) const { return node_rank_of_[rank]; }
  /// How many cores the ranks of a node may run on, of the node that has fewest; 0 where that is unknown.
  [[nodiscard]] int cores_per_node() const noexcept { return cores_per_node_; }
  /// How many of the node's cores are this rank's share: what it is bound to, if every rank has cores of its own, and
  /// an equal part of them where ranks share cores; at least one.
  [[nodiscard]] int share_of_cores() const noexcept { return share_of_cores_; }
  /// The cores that ranks of the node may run on.
  [[nodiscard]] const cpu_set_t& cores_of_node() const noexcept { return cores_of_node_; }
  /// Whether these are fewer than the node's ranks.
  [[nodiscard]] bool is_crowded() const noexcept { return CPU_COUNT(&cores_of_node_) < node_.size(); }
  /// With how many OpenMP threads this rank computes: as many as OMP_NUM_THREADS or `omp_set_num_threads` say, its
  /// share of the cores where nobody says anything. OpenMP alone would take all cores that it may run on, on each rank,
  /// and threads that wait for each other keep the cores from other ranks.
  [[nodiscard]] int threads() const;
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
  int cores_per_node_ = 0;
  int share_of_cores_ = 1;
  cpu_set_t cores_of_node_{};
};

}  // namespace plait::mpi
