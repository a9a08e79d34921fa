#include "plait/sinkhorn/column_sums.hpp"

#include <optional>

#include "plait/base/contract.hpp"
#include "plait/collective/node_reducer.hpp"
#include "plait/collective/pipeline.hpp"
#include "plait/simd/element_of.hpp"

namespace plait::sinkhorn {

using schedule::Combine;

template <class A>
struct SumOverRanks<A>::Way {
  Way(mpi::Context& context, Index elements)
      : length(elements), combine(simd::ReduceOperation::sum, simd::element_of<A>()) {
    if (context.topology().nodes() == 1) {
      node.emplace(context);
      return;
    }
    collective::Pipeline pipeline(context, length, Index{sizeof(A)});
    pipeline.allreduce(collective::Group::all(context), combine);
    network.emplace(pipeline.schedule("column sums"));
  }

  Index length;
  Combine combine;
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
    way_->node->allreduce(vector.data(), vector.data(), way_->length, way_->combine);
    return;
  }
  way_->network->start({{schedule::Binding::output(std::as_writable_bytes(vector))}});
  way_->network->wait();
}

template class SumOverRanks<double>;
template class SumOverRanks<float>;

}  // namespace plait::sinkhorn
