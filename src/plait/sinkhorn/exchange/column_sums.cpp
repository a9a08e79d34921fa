#include "plait/sinkhorn/exchange/column_sums.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/collective/node/node_reducer.hpp"
#include "plait/collective/pipeline.hpp"
#include "plait/mpi/mpi_collectives.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/simd/reduce/element_of.hpp"

namespace plait::sinkhorn {

using collective::Graph;
using collective::Place;
using collective::Stream;
using schedule::Combine;

namespace {

template <class A>
Combine sum() {
  return {simd::ReduceOperation::sum, simd::element_of<A>()};
}

template <class A>
schedule::Schedule by_least_cost(mpi::Context& context, Index length) {
  collective::Pipeline pipeline(context, length, Index{sizeof(A)});
  pipeline.allreduce(collective::Group::all(context), sum<A>());
  return pipeline.schedule("column sums");
}

template <class A>
schedule::Schedule by_way(mpi::Context& context, Index length, SumWay way) {
  const Stream stream = cut_sums(context, way, length, Index{sizeof(A)});
  Graph graph(exchange_strands);
  const Place sums{graph.output(length * Index{sizeof(A)})};
  static_cast<void>(append_exchange(graph, context, way, stream, sums, sum<A>()));
  return {context, std::move(graph), "column sums"};
}

template <class A>
void run(schedule::Schedule& schedule, std::span<A> vector) {
  schedule.start({{schedule::Binding::output(std::as_writable_bytes(vector))}});
  schedule.wait();
}

}  // namespace

template <class A>
struct SumOverRanks<A>::Way {
  Way(mpi::Context& of, Index elements, SumWay way) : context(of), length(elements) {
    if (way == SumWay::mpi) return;
    if (way != SumWay::chosen) {
      network.emplace(by_way<A>(context, length, way));
    } else if (context.topology().nodes() == 1) {
      node.emplace(context);
    } else {
      network.emplace(by_least_cost<A>(context, length));
    }
  }

  mpi::Context& context;
  Index length;
  std::optional<collective::NodeReducer> node;
  std::optional<schedule::Schedule> network;
};

template <class A>
SumOverRanks<A>::SumOverRanks(mpi::Context& context, Index length, SumWay way) {
  if (context.size() > 1) way_ = std::make_unique<Way>(context, length, way);
}
template <class A>
SumOverRanks<A>::SumOverRanks(SumOverRanks&&) noexcept = default;
template <class A>
SumOverRanks<A>::~SumOverRanks() = default;

template <class A>
void SumOverRanks<A>::operator()(std::span<A> vector) {
  if (!way_) return;
  PLAIT_ASSERT(static_cast<Index>(vector.size()) == way_->length, "vectors are as long as they were said to be");
  if (way_->node) {
    way_->node->allreduce(vector.data(), vector.data(), way_->length, sum<A>());
  } else if (way_->network) {
    run(*way_->network, vector);
  } else {
    mpi::blocking_all_reduce(way_->context.comm(), std::as_writable_bytes(vector),
                             mpi::reduction<A>(mpi::Operation::sum()));
  }
}

template class SumOverRanks<double>;
template class SumOverRanks<float>;

}  // namespace plait::sinkhorn
