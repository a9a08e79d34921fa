#include "bench/overlap/overlap_columns.hpp"

#include <vector>

namespace plait::bench {

collective::Group column(const mpi::Context& context, int place) {
  std::vector<int> ranks;
  for (int rank = 0; rank < context.size(); ++rank) {
    if (context.topology().node_rank_of(rank) == place) ranks.push_back(rank);
  }
  return {context, ranks};
}

int columns(const mpi::Context& context) {
  const mpi::NodeTopology& topology = context.topology();
  const bool are_alike = topology.nodes() * topology.ranks_per_node() == context.size();
  return are_alike && topology.nodes() > 1 ? topology.ranks_per_node() : 0;
}

}  // namespace plait::bench
