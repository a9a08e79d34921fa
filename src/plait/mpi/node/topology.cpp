#include "plait/mpi/node/topology.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "plait/base/backoff.hpp"
#include "plait/base/numa.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/environment.hpp"

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

/// Each core counts for a part of those that may run on it.
int share_of(const std::vector<Neighbour>& node, const Neighbour& own) {
  double share = 0.01;  // for rounding
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &own.cores)) continue;
    const auto claims = std::ranges::count_if(
        node, [core](const Neighbour& other) { return static_cast<bool>(CPU_ISSET(core, &other.cores)); });
    share += 1.0 / static_cast<double>(claims);
  }
  return std::max(1, static_cast<int>(share));
}

}  // namespace

NodeTopology::NodeTopology(const Communicator& comm) : node_(comm.split_by_node()), own_rank_(comm.rank()) {
  struct Place {
    int leader;
    int domain;
    int cores;
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
  share_of_cores_ = share_of(neighbours, own);
  for (const Neighbour& one : neighbours) CPU_OR(&cores_of_node_, &cores_of_node_, &one.cores);
  if (!is_simulated) Backoff::share_cores(is_crowded());
  const Place own_place{neighbours.front().rank, domain, CPU_COUNT(&cores_of_node_)};
  all_gather_bytes(comm, std::as_bytes(std::span(&own_place, 1)), std::as_writable_bytes(std::span(places)));

  for (int rank = 0; rank < comm.size(); ++rank) {
    domain_of_[rank] = places[rank].domain;
    const int leader = places[rank].leader;
    node_of_[rank] = leader == rank ? nodes_++ : node_of_[leader];
    node_rank_of_[rank] = found[node_of_[rank]]++;
  }
  ranks_per_node_ = *std::ranges::max_element(found);
  cores_per_node_ = std::ranges::min_element(places, {}, &Place::cores)->cores;
}

int NodeTopology::threads() const {
  static const bool is_named = std::getenv("OMP_NUM_THREADS") != nullptr;
  const int most = omp_get_max_threads();
  return is_named || most != omp_get_num_procs() ? most : std::min(most, share_of_cores_);
}

}  // namespace plait::mpi
