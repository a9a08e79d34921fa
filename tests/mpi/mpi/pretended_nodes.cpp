#include "mpi/mpi/pretended_nodes.hpp"

#include <mpi.h>

#include "support/ranks.hpp"

namespace {
int pretended_node = -1;  // of this rank; -1 where nothing is pretended. MPI's call below has no other way to know it
}  // namespace

// Of MPI's profiling interface: the program's own function is called in place of the library's.
extern "C" int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* part) {
  if (split_type != MPI_COMM_TYPE_SHARED || pretended_node < 0) {
    return PMPI_Comm_split_type(comm, split_type, key, info, part);
  }
  return PMPI_Comm_split(comm, pretended_node, key, part);
}

namespace plait::test {

PretendedNodes::PretendedNodes(const std::vector<int>& sizes) {
  int end = 0;
  for (int node = 0; node < static_cast<int>(sizes.size()) && end <= rank(); ++node) {
    end += sizes[static_cast<std::size_t>(node)];
    pretended_node = node;
  }
}

PretendedNodes::PretendedNodes(Own own) { pretended_node = own.node; }

PretendedNodes PretendedNodes::of_ranks(const std::vector<int>& node_of_rank) {
  const auto own = static_cast<std::size_t>(rank());
  return PretendedNodes(Own{own < node_of_rank.size() ? node_of_rank[own] : 1 << 20});
}

PretendedNodes::~PretendedNodes() { pretended_node = -1; }

}  // namespace plait::test
