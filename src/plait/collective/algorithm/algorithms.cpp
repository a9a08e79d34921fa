#include "plait/collective/algorithm/algorithms.hpp"

#include <utility>

#include "plait/collective/algorithm/hierarchical.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"

namespace plait::collective {

Stream broadcast_by(model::BroadcastAlgorithm algorithm, Graph& graph, const Group& group, int root,
                    const Stream& stream, Place data) {
  switch (algorithm) {
    case model::BroadcastAlgorithm::chain: return broadcast_chain(graph, group, root, stream, data);
    case model::BroadcastAlgorithm::scatter_all_gather:
      return broadcast_scatter_all_gather(graph, group, root, TreeShape::binomial, AllGatherWay::ring, stream, data);
    case model::BroadcastAlgorithm::scatter_doubling:
      return broadcast_scatter_all_gather(graph, group, root, TreeShape::binomial, AllGatherWay::doubling, stream,
                                          data);
    case model::BroadcastAlgorithm::binomial: break;
  }
  return broadcast_binomial(graph, group, root, stream, data);
}

Stream reduce_by(model::ReduceAlgorithm algorithm, Graph& graph, const Group& group, int root, const Stream& stream,
                 const Reducing& how) {
  switch (algorithm) {
    case model::ReduceAlgorithm::chain: return reduce_chain(graph, group, root, stream, how);
    case model::ReduceAlgorithm::halving_gather:
      return reduce_halving_gather(graph, group, root, TreeShape::binomial, stream, how);
    case model::ReduceAlgorithm::binomial: break;
  }
  return reduce_binomial(graph, group, root, stream, how);
}

Stream allreduce_by(model::AllreduceAlgorithm algorithm, Graph& graph, const mpi::Context& context, const Group& group,
                    const Stream& stream, const Reducing& how, const GroupWay& way) {
  switch (algorithm) {
    case model::AllreduceAlgorithm::recursive_doubling: return allreduce_doubling(graph, group, stream, how);
    case model::AllreduceAlgorithm::rabenseifner: return allreduce_rabenseifner(graph, group, stream, how);
    case model::AllreduceAlgorithm::hierarchical:
      if (may_take_levels(context, group, how.combine))
        return allreduce_hierarchical(graph, context, Hierarchy::of_machine(context), stream, how, way);
      break;
    case model::AllreduceAlgorithm::ring: break;
  }
  return allreduce_ring(graph, group, stream, how);
}

bool may_take_levels(const mpi::Context& context, const Group& group, const schedule::Combine& combine) {
  return combine.commutes() && group == Group::all(context);
}

Blocks all_gather_by(model::AllGatherAlgorithm algorithm, Graph& graph, const Group& group, Blocks blocks, Place data) {
  switch (algorithm) {
    case model::AllGatherAlgorithm::recursive_doubling:
      return all_gather_doubling(graph, group, std::move(blocks), data);
    case model::AllGatherAlgorithm::ring: break;
  }
  return all_gather_ring(graph, group, std::move(blocks), data);
}

Blocks reduce_scatter_by(model::ReduceScatterAlgorithm algorithm, Graph& graph, const Group& group, Blocks blocks,
                         const Reducing& how) {
  switch (algorithm) {
    case model::ReduceScatterAlgorithm::recursive_halving:
      return reduce_scatter_halving(graph, group, std::move(blocks), how);
    case model::ReduceScatterAlgorithm::ring: break;
  }
  return reduce_scatter_ring(graph, group, std::move(blocks), how);
}

int messages_of_segment(model::BroadcastAlgorithm algorithm, const Group& group) noexcept {
  switch (algorithm) {
    case model::BroadcastAlgorithm::scatter_all_gather: return group.widest();
    case model::BroadcastAlgorithm::scatter_doubling: return 2;
    default: return 1;
  }
}

int messages_of_segment(model::ReduceAlgorithm algorithm, const Group& group) noexcept {
  return algorithm == model::ReduceAlgorithm::halving_gather ? group.widest() : 1;
}

int messages_of_segment(model::AllreduceAlgorithm algorithm, const Group& group) noexcept {
  switch (algorithm) {
    case model::AllreduceAlgorithm::ring:
    case model::AllreduceAlgorithm::hierarchical: return group.widest();
    case model::AllreduceAlgorithm::rabenseifner: return 2;
    case model::AllreduceAlgorithm::recursive_doubling: break;
  }
  return 1;
}

}  // namespace plait::collective
