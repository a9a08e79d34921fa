#include "plait/sinkhorn/exchange/column_exchange.hpp"

#include <algorithm>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/collective/algorithm/allreduce.hpp"
#include "plait/collective/algorithm/hierarchical.hpp"
#include "plait/collective/algorithm/tree.hpp"
#include "plait/collective/group.hpp"
#include "plait/mpi/message.hpp"

namespace plait::sinkhorn {

using collective::Group;
using collective::Hierarchy;
using collective::Place;
using collective::Stream;
using collective::TreeShape;
using schedule::Combine;
using schedule::Graph;

namespace {

Group ranks_of_node(const mpi::Context& context) {
  const mpi::NodeTopology& topology = context.topology();
  std::vector<int> ranks;
  for (int rank = 0; rank < context.size(); ++rank) {
    if (topology.node_of(rank) == topology.node_of(context.rank())) ranks.push_back(rank);
  }
  return {context, ranks, topology.ranks_per_node()};
}

Group leaders(const mpi::Context& context) {
  std::vector<int> ranks;
  for (int rank = 0; rank < context.size(); ++rank) {
    if (context.topology().node_rank_of(rank) == 0) ranks.push_back(rank);
  }
  return {context, ranks};
}

}  // namespace

std::string_view name(SumWay way) noexcept {
  switch (way) {
    case SumWay::chosen: return "auto";
    case SumWay::mpi: return "mpi";
    case SumWay::ring: return "ring";
    case SumWay::two_level: return "two-level";
    case SumWay::coffee: return "coffee";
  }
  return "";
}

// Chunks are some eighth of the vector, so that all but the last can be computed with while others travel, but not so
// short that their messages cost more than their bytes, nor longer than what goes out without being asked for.
Stream cut_sums(const mpi::Context& context, SumWay way, Index elements, Index element_bytes) {
  constexpr Index chunks = 8;
  constexpr Index least_message = 4096;  // bytes
  const bool has_leaders = way == SumWay::two_level || way == SumWay::coffee;
  const Index messages = has_leaders ? context.topology().nodes() : context.size();
  const Index bytes = elements * element_bytes;
  const Index chunk = std::clamp(bytes / chunks, messages * least_message, messages * mpi::network_message);
  return Stream::cut(elements, element_bytes, exchange_strands, std::max(Index{1}, chunk / element_bytes));
}

Stream append_exchange(Graph& graph, const mpi::Context& context, SumWay way, const Stream& stream, Place sums,
                       const Combine& combine) {
  switch (way) {
    case SumWay::mpi: break;
    case SumWay::ring: return allreduce_ring(graph, Group::all(context), stream, sums, sums, combine);
    case SumWay::two_level: {
      const Group node = ranks_of_node(context);
      const Stream reduced = reduce_binomial(graph, node, 0, stream, sums, sums, combine);
      const Stream of_leaders = allreduce_ring(graph, leaders(context), reduced, sums, sums, combine);
      return broadcast_binomial(graph, node, 0, of_leaders, sums);
    }
    case SumWay::coffee: {
      const Group node = ranks_of_node(context);
      const Stream reduced = reduce_halving_gather(graph, node, 0, TreeShape::linear, stream, sums, sums, combine);
      const Stream of_leaders = allreduce_ring(graph, leaders(context), reduced, sums, sums, combine);
      return broadcast_binomial(graph, node, 0, of_leaders, sums);
    }
    case SumWay::chosen:
      return allreduce_hierarchical(graph, context, Hierarchy::of_nodes(context), stream, sums, sums, combine);
  }
  PLAIT_ASSERT(false, "the MPI library's own way is no part of a schedule");
  return stream;
}

}  // namespace plait::sinkhorn
