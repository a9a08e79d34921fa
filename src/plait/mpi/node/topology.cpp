#include "plait/mpi/node/topology.hpp"

#include <algorithm>
#include <span>

#include "plait/base/numa.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::mpi {

NodeTopology::NodeTopology(const Communicator& comm) : node_(comm.split_by_node()), own_rank_(comm.rank()) {
  int leader = comm.rank();
  broadcast(node_, std::span<int>(&leader, 1), 0);
  struct Place {
    int leader;
    int domain;
  };
  const std::vector<Place> places = all_gather(comm, Place{leader, numa_domain()});

  node_of_.resize(places.size());
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    domain_of_.push_back(places[rank].domain);
    const auto leading = static_cast<std::size_t>(places[rank].leader);
    node_of_[rank] = leading == rank ? nodes_++ : node_of_[leading];
  }
  std::vector<int> found(static_cast<std::size_t>(nodes_), 0);
  for (const int node : node_of_) node_rank_of_.push_back(found[static_cast<std::size_t>(node)]++);
  ranks_per_node_ = *std::ranges::max_element(found);
}

}  // namespace plait::mpi
