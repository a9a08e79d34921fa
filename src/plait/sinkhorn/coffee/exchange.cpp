#include "plait/sinkhorn/coffee/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/collective/algorithm/allreduce.hpp"
#include "plait/collective/algorithm/hierarchical.hpp"
#include "plait/collective/algorithm/tree.hpp"
#include "plait/collective/group.hpp"
#include "plait/mpi/message.hpp"
#include "plait/mpi/mpi_collectives.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/simd/reduce/element_of.hpp"

namespace plait::sinkhorn {

using collective::Group;
using collective::Hierarchy;
using collective::Place;
using collective::Segment;
using collective::Stream;
using collective::TreeShape;
using schedule::Combine;
using schedule::Graph;

namespace {

/// As many parts of a vector go through all ranks side by side.
constexpr int exchange_strands = 4;

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

/// Each segment is computed with when it is final, as long as it is read only.
template <class A>
schedule::Schedule exchange_and_rescale(mpi::Context& context, SumWay way, PartwiseIteration<A>& iteration,
                                        Index columns, Index riders) {
  const Index length = columns + riders;
  const Stream stream = cut_sums(context, way, length, Index{sizeof(A)});
  Graph graph(exchange_strands);
  const Place sums{graph.output(length * Index{sizeof(A)})};
  const Stream summed =
      append_exchange(graph, context, way, stream, sums, {simd::ReduceOperation::sum, simd::element_of<A>()});
  for (const Segment& segment : summed.segments()) {
    const Index count = std::min(segment.end, columns) - segment.begin;
    if (count <= 0) continue;
    const auto rescale = [&iteration, sums, first = segment.begin, count](const schedule::Run& run, Index step) {
      const auto* values = reinterpret_cast<const A*>(run.address(sums.slot, first * Index{sizeof(A)}));
      iteration.rescale(first, {values, static_cast<std::size_t>(count)}, step);
    };
    graph.compute(segment.position(), iteration.steps(count), rescale, {sums.slot}, segment.final);
  }
  return {context, std::move(graph), "column sums and update"};
}

template <class A>
schedule::Schedule by_way(mpi::Context& context, Index length, SumWay way) {
  const Stream stream = cut_sums(context, way, length, Index{sizeof(A)});
  Graph graph(exchange_strands);
  const Place sums{graph.output(length * Index{sizeof(A)})};
  static_cast<void>(
      append_exchange(graph, context, way, stream, sums, {simd::ReduceOperation::sum, simd::element_of<A>()}));
  return {context, std::move(graph), "column sums"};
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

template <class A>
SumUp<A> sum_up(mpi::Context& context, Index length, SumWay way) {
  if (context.size() == 1) return [](std::span<A>) {};
  if (way == SumWay::mpi) {
    return [&context](std::span<A> vector) {
      mpi::blocking_all_reduce(context.comm(), std::as_writable_bytes(vector),
                               mpi::reduction<A>(mpi::Operation::sum()));
    };
  }
  if (way == SumWay::chosen) {
    return [sum = std::make_shared<SumOverRanks<A>>(context, length)](std::span<A> vector) { (*sum)(vector); };
  }
  return [sum = std::make_shared<schedule::Schedule>(by_way<A>(context, length, way))](std::span<A> vector) {
    sum->start({{schedule::Binding::output(std::as_writable_bytes(vector))}});
    sum->wait();
  };
}

template <class A>
SumAndRescale<A>::SumAndRescale(mpi::Context& context, SumWay way, PartwiseIteration<A>& iteration, Index columns,
                                Index riders)
    : iteration_(&iteration), columns_(columns) {
  if (way == SumWay::mpi) {
    throw ArgumentError(
        "the update is to overlap with MPI_Allreduce, which returns everything at once; expected another exchange");
  }
  if (context.size() > 1) schedule_.emplace(exchange_and_rescale(context, way, iteration, columns, riders));
}

template <class A>
void SumAndRescale<A>::operator()(std::span<A> vector) {
  if (schedule_) {
    schedule_->start({{schedule::Binding::output(std::as_writable_bytes(vector))}});
    schedule_->wait();
  } else {
    iteration_->rescale(vector.first(static_cast<std::size_t>(columns_)));
  }
  iteration_->note_rescaled();
}

template <class A>
OverlappedSums<A>::OverlappedSums(mpi::Context& context, SumWay way, PartwiseIteration<A>& iteration, Index columns,
                                  Index riders, double total, const Limits& limits)
    : iteration_(&iteration),
      columns_(static_cast<std::size_t>(columns)),
      wanted_(limits.tolerance * total),
      left_(limits.most_iterations),
      afterwards_(sum_up<A>(context, columns + riders, way)),
      meanwhile_(context, way, iteration, columns, riders) {}

// Errors fall by a constant factor, which is seldom that large.
template <class A>
void OverlappedSums<A>::operator()(std::span<A> vector) {
  constexpr double far = 16;
  --left_;
  if (left_ > 0 && error_ > far * wanted_) {
    meanwhile_(vector);
  } else {
    afterwards_(vector);
  }
  error_ = iteration_->distance(0, vector.first(columns_)).off;
}

template class SumAndRescale<double>;
template class SumAndRescale<float>;
template class OverlappedSums<double>;
template class OverlappedSums<float>;

template SumUp<double> sum_up(mpi::Context&, Index, SumWay);
template SumUp<float> sum_up(mpi::Context&, Index, SumWay);

}  // namespace plait::sinkhorn
