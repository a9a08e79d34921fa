#include "plait/mpi/topology.hpp"

#include <algorithm>
#include <span>

#include "plait/mpi/collectives.hpp"

namespace plait::mpi {

NodeTopology::NodeTopology(const Communicator& comm) : node_(comm.split_by_node()), own_rank_(comm.rank()) {
  int leader = comm.rank();
  broadcast(node_, std::span<int>(&leader, 1), 0);
  const std::vector<int> leader_of = all_gather(comm, leader);

  node_of_.resize(leader_of.size());
  for (std::size_t rank = 0; rank < leader_of.size(); ++rank) {
    const auto leading = static_cast<std::size_t>(leader_of[rank]);
    node_of_[rank] = leading == rank ? nodes_++ : node_of_[leading];
  }
  std::vector<int> found(static_cast<std::size_t>(nodes_), 0);
  for (const int node : node_of_) node_rank_of_.push_back(found[static_cast<std::size_t>(node)]++);
  ranks_per_node_ = *std::ranges::max_element(found);
}

}  // namespace plait::mpi
