#include "plait/sinkhorn/scaling/overlapped_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/simd/reduce/element_of.hpp"

namespace plait::sinkhorn {

using collective::Graph;
using collective::Place;
using collective::Segment;
using collective::Stream;

namespace {

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
      iteration.columns(first, {values, static_cast<std::size_t>(count)}, step);
    };
    graph.compute(segment.position(), iteration.steps(count), rescale, {sums.slot}, segment.final);
  }
  return {context, std::move(graph), "column sums and update"};
}

}  // namespace

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
    iteration_->columns(vector.first(static_cast<std::size_t>(columns_)));
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
      afterwards_(context, columns + riders, way),
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
  error_ = iteration_->distance(vector.first(columns_));
}

template class SumAndRescale<double>;
template class SumAndRescale<float>;
template class OverlappedSums<double>;
template class OverlappedSums<float>;

}  // namespace plait::sinkhorn
