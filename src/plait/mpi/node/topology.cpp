#include "plait/mpi/node/topology.hpp"

#include <sched.h>

#include <algorithm>
#include <span>

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
  struct Place {
    int leader;
    int domain;
  };
  std::vector<Neighbour> neighbours;
  Vector<Place> places;
  Vector<int> found;  // of each node
  int domain = -1;
  with_memory_on_all_ranks(comm, [&] {
    domain = numa_domain();
    neighbours.resize(at(node_.size()));
    places.resize(comm.size());
    for (Vector<int>* one : {&found, &node_of_, &node_rank_of_, &domain_of_}) one->resize(comm.size());
  });
  const Neighbour own = self(comm.rank());
  all_gather_bytes(node_, std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(neighbours)));
  fair_threads_ = fair_share(neighbours, own);
  const Place place{neighbours.front().rank, domain};
  all_gather_bytes(comm, std::as_bytes(std::span(&place, 1)), std::as_writable_bytes(std::span(places)));

  for (int rank = 0; rank < comm.size(); ++rank) {
    domain_of_[rank] = places[rank].domain;
    const int leader = places[rank].leader;
    node_of_[rank] = leader == rank ? nodes_++ : node_of_[leader];
    node_rank_of_[rank] = found[node_of_[rank]]++;
  }
  ranks_per_node_ = *std::ranges::max_element(found);
}

}  // namespace plait::mpi
