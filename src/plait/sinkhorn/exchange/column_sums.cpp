#include "plait/sinkhorn/exchange/column_sums.hpp"

#include "plait/base/contract.hpp"
#include "plait/collective/node/reducer.hpp"
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
struct SumOverRanks<A>::Way {
  Way(mpi::Context& context, Index elements) : length(elements) {
    if (context.topology().nodes() == 1) {
      node.emplace(context);
    } else {
      network.emplace(by_least_cost<A>(context, length));
    }
  }

  Index length;
  std::optional<collective::NodeReducer> node;
  std::optional<schedule::Schedule> network;
};

template <class A>
SumOverRanks<A>::SumOverRanks(mpi::Context& context, Index length) {
  if (context.size() > 1) way_ = std::make_unique<Way>(context, length);
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
  } else {
    way_->network->start({{schedule::Binding::output(std::as_writable_bytes(vector))}});
    way_->network->wait();
  }
}

template class SumOverRanks<double>;
template class SumOverRanks<float>;

}  // namespace plait::sinkhorn
