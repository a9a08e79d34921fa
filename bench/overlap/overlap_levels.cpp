#include "bench/overlap/overlap_levels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "plait/collective/algorithm/hierarchical.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/schedule/graph.hpp"

#include "bench/overlap/overlap_columns.hpp"

namespace plait::bench {

namespace {

using collective::Group;
using collective::GroupWay;
using collective::Hierarchy;
using collective::Place;
using collective::Stream;
using collective::TreeShape;
using schedule::Combine;
using schedule::Graph;

constexpr Index element_bytes = sizeof(double);
constexpr int strands_of_chunks = 4;
// Long ones: where ranks outnumber the cores, every handing over costs the time until another rank is let run.
constexpr Index message_bytes = Index{512} << 10;

// A chunk is cut into as many messages as there are ranks that divide it among them.
Stream cut(const mpi::Context& context, Index elements, const Levels& levels) {
  if (!levels.overlaps) return Stream::cut(elements, element_bytes, 1, std::max<Index>(elements, 1));
  const bool has_leaders = levels.way == Levels::Way::leaders || levels.way == Levels::Way::coffee;
  const int parts = has_leaders ? context.topology().nodes() : context.size();
  return Stream::cut(elements, element_bytes, strands_of_chunks, parts * message_bytes / element_bytes);
}

GroupWay way_within_nodes(mpi::Context& context, Index elements, const Levels& levels) {
  if (!levels.shares_memory) return {};
  return GroupWay::through_memory(context, cut(context, elements, levels));
}

// Those of this rank's node.
Group node(const mpi::Context& context) {
  const mpi::NodeTopology& topology = context.topology();
  std::vector<int> ranks;
  for (int rank = 0; rank < context.size(); ++rank) {
    if (topology.node_of(rank) == topology.node_of(context.rank())) ranks.push_back(rank);
  }
  return {context, ranks, topology.ranks_per_node()};
}

Stream allreduce(Graph& graph, const mpi::Context& context, const Levels& levels, const Stream& stream, Place data,
                 const GroupWay& way) {
  const Combine sum(simd::ReduceOperation::sum, simd::Element::float64);
  switch (levels.way) {
    case Levels::Way::ring: break;
    case Levels::Way::leaders: {
      const Stream reduced = reduce_chain(graph, node(context), 0, stream, {data, data, sum});
      const Stream of_leaders = allreduce_ring(graph, column(context, 0), reduced, {data, data, sum});
      return broadcast_chain(graph, node(context), 0, of_leaders, data);
    }
    case Levels::Way::coffee: {
      const Stream reduced =
          reduce_halving_gather(graph, node(context), 0, TreeShape::linear, stream, {data, data, sum});
      const Stream of_leaders = allreduce_ring(graph, column(context, 0), reduced, {data, data, sum});
      return broadcast_chain(graph, node(context), 0, of_leaders, data);
    }
    case Levels::Way::scattered:
      return allreduce_hierarchical(graph, context, Hierarchy::of_nodes(context), stream, {data, data, sum}, way);
  }
  return allreduce_ring(graph, Group::all(context), stream, {data, data, sum});
}

Graph graph_of(const mpi::Context& context, Index elements, const Levels& levels, const GroupWay& way,
               std::function<void(std::span<std::byte>, Index)> compute) {
  Graph graph(levels.overlaps ? strands_of_chunks : 1);
  const Place data{graph.output(elements * element_bytes)};
  const Stream reduced = allreduce(graph, context, levels, cut(context, elements, levels), data, way);
  if (levels.overlaps_compute) static_cast<void>(computed(graph, std::move(compute), reduced, data));
  return graph;
}

}  // namespace

std::string Levels::name() const {
  const char* const ways[] = {"ring", "leaders", "coffee", "scattered"};
  std::string name = ways[static_cast<int>(way)];
  if (shares_memory) name += "+window";
  if (overlaps) name += "+chunks";
  if (overlaps_compute) name += "+compute";
  return name;
}

LevelledAllreduce::LevelledAllreduce(mpi::Context& context, Index elements, const Levels& levels,
                                     std::function<void(std::span<std::byte> elements, Index first)> compute)
    : schedule_(context,
                graph_of(context, elements, levels, way_within_nodes(context, elements, levels), std::move(compute)),
                levels.name()) {}

void LevelledAllreduce::run(std::span<double> data) {
  const auto binding = schedule::Binding::output(std::as_writable_bytes(data));
  schedule_.start({&binding, 1});
  schedule_.wait();
}

}  // namespace plait::bench
