#include "plait/collective/algorithm/reduce_scatter.hpp"

#include <utility>
#include <vector>

#include "plait/collective/algorithm/chain.hpp"
#include "plait/collective/arguments.hpp"

namespace plait::collective {

// The way of each block is a chain that ends at its rank.
Blocks reduce_scatter_ring(Graph& graph, const Group& group, Blocks blocks, Place in, Place out,
                           const Combine& combine) {
  if (!combine.commutes()) return reduce_scatter_halving(graph, group, std::move(blocks), in, out, combine);
  blocks.expect_one_each(group);
  const bool combines = group.contains_me() && group.size() > 1;
  const PoolId staging =
      graph.pool(combines ? blocks.pieces().longest_bytes() : 0, staged_blocks(blocks.block(0), group.size() - 1));
  std::vector<Stream> reduced;
  reduced.reserve(static_cast<std::size_t>(group.size()));
  for (int index = 0; index < group.size(); ++index)
    reduced.push_back(reduce_chain(graph, group, index, blocks.block(index), in, out, combine, staging));
  blocks.replace(reduced);
  return blocks;
}

Place at_beginning(const Group& group, const Blocks& blocks, Place out) {
  if (!group.contains_me()) return out;
  return {out.slot, out.offset - blocks.extent(group.me()).first * blocks.element_bytes()};
}

}  // namespace plait::collective
