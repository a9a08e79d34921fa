#include "plait/mpi/node/topology.hpp"

#include <sched.h>

#include <algorithm>

#include "plait/base/numa.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::mpi {

namespace {

// A rank of a node, and the cores that it may run on: none where that is unknown.
struct Neighbour {
  int rank;
  cpu_set_t cores;
};

Neighbour self(int rank) {
  Neighbour own{rank, {}};
  if (sched_getaffinity(0, sizeof own.cores, &own.cores) != 0) CPU_ZERO(&own.cores);
  return own;
}

int fair_share(const std::vector<Neighbour>& node, const Neighbour& own) {
  const auto shares_cores = [&](const Neighbour& other) {
    cpu_set_t common;
    CPU_AND(&common, &other.cores, &own.cores);
    return CPU_COUNT(&common) > 0;
  };
  const auto sharing = std::max<std::ptrdiff_t>(1, std::ranges::count_if(node, shares_cores));
  return std::max(1, CPU_COUNT(&own.cores) / static_cast<int>(sharing));
}

}  // namespace

NodeTopology::NodeTopology(const Communicator& comm) : node_(comm.split_by_node()), own_rank_(comm.rank()) {
  const Neighbour own = self(comm.rank());
  const std::vector<Neighbour> neighbours = all_gather(node_, own);
  const int leader = neighbours.front().rank;
  fair_threads_ = fair_share(neighbours, own);
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
