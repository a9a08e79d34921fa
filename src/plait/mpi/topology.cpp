#include "plait/mpi/topology.hpp"

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
}

}  // namespace plait::mpi
