#include "plait/sinkhorn/exchange/column_sums.hpp"

#include "plait/base/contract.hpp"
#include "plait/collective/pipeline.hpp"
#include "plait/simd/reduce/element_of.hpp"

namespace plait::sinkhorn {

namespace {

template <class A>
schedule::Combine sum() {
  return {simd::ReduceOperation::sum, simd::element_of<A>()};
}

template <class A>
schedule::Schedule by_least_cost(mpi::Context& context, Index length) {
  collective::Pipeline pipeline(context, length, Index{sizeof(A)});
  pipeline.allreduce(collective::Group::all(context), sum<A>());
  return pipeline.schedule("column sums");
}

}  // namespace

template <class A>
SumOverRanks<A>::SumOverRanks(mpi::Context& context, Index length) : length_(length) {
  if (context.size() == 1) return;
  if (context.topology().nodes() == 1) {
    node_.emplace(context);
  } else {
    network_.emplace(by_least_cost<A>(context, length));
  }
}

template <class A>
void SumOverRanks<A>::operator()(std::span<A> vector) {
  PLAIT_ASSERT(static_cast<Index>(vector.size()) == length_, "vectors are as long as they were said to be");
  if (node_) node_->allreduce(vector.data(), vector.data(), length_, sum<A>());
  if (network_) {
    network_->start({{schedule::Binding::output(std::as_writable_bytes(vector))}});
    network_->wait();
  }
}

template class SumOverRanks<double>;
template class SumOverRanks<float>;

}  // namespace plait::sinkhorn
