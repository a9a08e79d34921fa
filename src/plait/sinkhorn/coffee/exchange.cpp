#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/collective/algorithm/hierarchical.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"
#include "plait/collective/group.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/message.hpp"
#include "plait/mpi/mpi_collectives.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/simd/reduce/element_of.hpp"
#include "plait/sinkhorn/coffee/scale_in_place.hpp"

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
    case SumWay::ring: return allreduce_ring(graph, Group::all(context), stream, {sums, sums, combine});
    case SumWay::two_level: {
      const Group node = ranks_of_node(context);
      const Stream reduced = reduce_binomial(graph, node, 0, stream, {sums, sums, combine});
      const Stream of_leaders = allreduce_ring(graph, leaders(context), reduced, {sums, sums, combine});
      return broadcast_binomial(graph, node, 0, of_leaders, sums);
    }
    case SumWay::coffee: {
      const Group node = ranks_of_node(context);
      const Stream reduced = reduce_halving_gather(graph, node, 0, TreeShape::linear, stream, {sums, sums, combine});
      const Stream of_leaders = allreduce_ring(graph, leaders(context), reduced, {sums, sums, combine});
      return broadcast_binomial(graph, node, 0, of_leaders, sums);
    }
    case SumWay::chosen:
      return allreduce_hierarchical(graph, context, Hierarchy::of_nodes(context), stream, {sums, sums, combine});
  }
  PLAIT_ASSERT(false, "the MPI library's own way is no part of a schedule");
  return stream;
}

/// Each segment is computed with when it is final, as long as it is read only.
template <class A>
schedule::Schedule exchange(mpi::Context& context, SumWay way, Index columns, Index riders,
                            InPlaceIteration<A>* iteration) {
  const Index length = columns + riders;
  const Stream stream = cut_sums(context, way, length, Index{sizeof(A)});
  Graph graph(exchange_strands);
  const Place sums{graph.output(length * Index{sizeof(A)})};
  const Stream summed =
      append_exchange(graph, context, way, stream, sums, {simd::ReduceOperation::sum, simd::element_of<A>()});
  for (const Segment& segment : summed.segments()) {
    const Index count = std::min(segment.end, columns) - segment.begin;
    if (count <= 0 || iteration == nullptr) continue;
    const auto rescale = [iteration, sums, first = segment.begin, count](const schedule::Run& run, Index step) {
      const auto* values = reinterpret_cast<const A*>(run.address(sums.slot, first * Index{sizeof(A)}));
      iteration->rescale(first, {values, static_cast<std::size_t>(count)}, step);
    };
    graph.compute(segment.position(), iteration->steps(count), rescale, {sums.slot}, segment.final);
  }
  return {context, std::move(graph), iteration == nullptr ? "column sums" : "column sums and update"};
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
ExchangedSums<A>::ExchangedSums(mpi::Context& context, SumWay way, Index columns, Index riders,
                                InPlaceIteration<A>* iteration)
    : context_(&context), columns_(columns), iteration_(iteration) {
  PLAIT_ASSERT(way != SumWay::mpi || iteration == nullptr, "MPI's own way returns everything at once");
  if (context.size() == 1 || way == SumWay::mpi) return;
  if (way == SumWay::chosen && iteration == nullptr) {
    chosen_.emplace(context, columns + riders);
  } else {
    schedule_.emplace(exchange<A>(context, way, columns, riders, iteration));
  }
}

template <class A>
void ExchangedSums<A>::operator()(std::span<A> vector) {
  if (schedule_) {
    schedule_->start({{schedule::Binding::output(std::as_writable_bytes(vector))}});
    schedule_->wait();
  } else if (chosen_) {
    (*chosen_)(vector);
  } else if (context_->size() > 1) {
    mpi::blocking_all_reduce(context_->comm(), std::as_writable_bytes(vector),
                             mpi::reduction<A>(mpi::Operation::sum()));
  } else if (iteration_ != nullptr) {
    iteration_->columns(vector.first(static_cast<std::size_t>(columns_)));
  }
}

template class ExchangedSums<double>;
template class ExchangedSums<float>;

namespace {

Index sum_of(const std::vector<Index>& values) { return std::accumulate(values.begin(), values.end(), Index{0}); }

template <class T>
void copy_rows(matrix_view<const T> from, T* to) {
  for (Index i = 0; i < from.rows(); ++i) {
    std::copy_n(from.data() + i * from.leading_dimension(), from.columns(), to + i * from.columns());
  }
}

std::vector<Index> times(const std::vector<Index>& rows, Index columns) {
  std::vector<Index> elements;
  elements.reserve(rows.size());
  for (const Index count : rows) elements.push_back(count * columns);
  return elements;
}

}  // namespace

template <class T>
DealtRows<T>::DealtRows(mpi::Context& context, matrix_view<T> rows, std::span<const double> marginals)
    : context_(context), kept_(rows), dealt_(rows), marginals_(marginals.begin(), marginals.end()) {
  const mpi::NodeTopology& topology = context.topology();
  std::vector<Index> given(static_cast<std::size_t>(context.size()));  // rows, to each rank
  const int workers = topology.node().size() - 1;
  const bool gives = workers > 0 && topology.node_rank_of(context.rank()) == 0;
  if (gives) {
    const auto parts = layout::Axis::even(rows.rows(), workers);
    for (int rank = 0; rank < context.size(); ++rank) {
      if (rank == context.rank() || topology.node_of(rank) != topology.node_of(context.rank())) continue;
      given[static_cast<std::size_t>(rank)] = parts.local_extent(topology.node_rank_of(rank) - 1);
    }
  }
  const mpi::Communicator& comm = context.comm();
  const auto more = mpi::all_to_all(comm, gives ? marginals : std::span<const double>(), given, &taken_);
  const Index columns = rows.columns();
  const Index own = gives ? 0 : rows.rows();
  const auto taken = static_cast<Index>(more.size());
  Array<T> packed;
  mpi::agreed(context, [&] {
    if (gives) packed = Array<T>(rows.rows() * columns);
    if (taken > 0) copy_ = Array<T>((own + taken) * columns);
    marginals_.resize(static_cast<std::size_t>(own));
    marginals_.insert(marginals_.end(), more.begin(), more.end());
  });
  if (gives) copy_rows<T>(rows, packed.data());
  if (taken > 0) copy_rows<T>(rows, copy_.data());
  const auto came = mpi::all_to_all(comm, std::span<const T>(packed.span()), times(given, columns));
  if (taken > 0) std::ranges::copy(came, copy_.data() + own * columns);
  if (gives) dealt_ = {rows.data(), 0, columns, rows.leading_dimension(), StorageOrder::row_major};
  if (taken > 0) dealt_ = {copy_.data(), own + taken, columns, std::max(Index{1}, columns), StorageOrder::row_major};
}

template <class T>
std::vector<T> DealtRows<T>::put_back(const std::vector<T>& factors) {
  const Index columns = kept_.columns();
  const Index taken = sum_of(taken_);
  const auto own = static_cast<std::size_t>(dealt_.rows() - taken);
  const std::span<const T> room = std::span<const T>(copy_.span()).last(static_cast<std::size_t>(taken * columns));
  const auto rows = mpi::all_to_all(context_.comm(), room, times(taken_, columns));
  const auto more = mpi::all_to_all(context_.comm(), std::span(factors).subspan(own), taken_);
  const T* const from = taken > 0 ? copy_.data() : rows.data();
  for (Index i = 0; i < kept_.rows() && (taken > 0 || !more.empty()); ++i) {
    std::copy_n(from + i * columns, columns, kept_.data() + i * kept_.leading_dimension());
  }
  return mpi::agreed(context_, [&] {
    std::vector<T> back(factors.begin(), factors.begin() + static_cast<std::ptrdiff_t>(own));
    back.insert(back.end(), more.begin(), more.end());
    return back;
  });
}

template class DealtRows<double>;
template class DealtRows<float>;

}  // namespace plait::sinkhorn
