#include "plait/collective/algorithm/scattered.hpp"

#include <utility>
#include <vector>

#include "plait/collective/algorithm/all_gather.hpp"
#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/algorithm/reduce_scatter.hpp"
#include "plait/collective/algorithm/scatter.hpp"
#include "plait/collective/arguments.hpp"

namespace plait::collective {

Stream broadcast_scatter_all_gather(Graph& graph, const Group& group, int root, TreeShape shape, AllGatherWay way,
                                    const Stream& stream, Place data) {
  Blocks blocks = scatter(graph, group, root, shape, Blocks::split(stream, group.size()), data, data);
  blocks = way == AllGatherWay::ring ? all_gather_ring(graph, group, std::move(blocks), data)
                                     : all_gather_doubling(graph, group, std::move(blocks), data);
  return blocks.joined();
}

Stream reduce_halving_gather(Graph& graph, const Group& group, int root, TreeShape shape, const Stream& stream,
                             Place in, Place out, const Combine& combine) {
  group.expect_member(root);
  expect_pairwise(stream, combine);
  Blocks blocks = Blocks::split(stream, group.size());
  if (!group.contains_me() || group.me() == root) {
    blocks = reduce_scatter_halving(graph, group, std::move(blocks), in, out, combine);
    return gather(graph, group, root, shape, std::move(blocks), out, out).joined();
  }
  // A result is held from the last round of the reduction, at the earliest, to the end of the gather.
  const Stream own = blocks.block(group.me());
  const Index stages = 2 * Index{depth(TreeShape::binomial, group.widest())} + 2;
  const PoolId pool = graph.pool(own.longest_bytes(), staged_blocks(own, stages));
  std::vector<Place> results;
  for (const Segment& piece : own.segments())
    results.push_back({graph.staging(pool), -piece.begin * stream.element_bytes()});
  const Places staged(std::move(results));
  blocks = reduce_scatter_halving(graph, group, std::move(blocks), in, staged, combine);
  return gather(graph, group, root, shape, std::move(blocks), staged, out).joined();
}

}  // namespace plait::collective
