#include "plait/collective/algorithm/reduce_scatter.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "plait/base/rounding.hpp"
#include "plait/collective/algorithm/chain.hpp"
#include "plait/collective/arguments.hpp"

namespace plait::collective {

namespace {

constexpr Index move_step_bytes = Index{256} << 10;

}  // namespace

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

OperationId move_to_beginning(Graph& graph, const Group& group, const Blocks& blocks, Place data) {
  const Stream all = blocks.pieces();
  Position last;
  Dependencies after;
  for (const Segment& piece : all.segments()) {
    last = std::max(last, piece.position());
    const Dependencies own = piece.final_and_read();
    after.insert(after.end(), own.begin(), own.end());
  }
  const auto [begin, end] = group.contains_me() ? blocks.extent(group.me()) : std::pair<Index, Index>{0, 0};
  const Range from = blocks.range(data, begin, end);
  const Index steps = begin == 0 ? 0 : quotient_up(from.bytes, move_step_bytes);
  const auto move = [from, data](const schedule::Run& run, Index step) {
    const Index done = step * move_step_bytes;
    const Index bytes = std::min(move_step_bytes, from.bytes - done);
    std::memmove(run.address(data.slot, data.offset + done), run.address(from.slot, from.offset + done),
                 static_cast<std::size_t>(bytes));
    run.count_own_move(bytes);
  };
  return graph.compute(last, steps, move, {data.slot}, std::move(after));
}

Exchanged reduce_scatter_ring_traffic(std::span<const Index> piece_bytes, int index, bool commutes) {
  if (!commutes) return reduce_scatter_halving_traffic(piece_bytes, index, commutes);
  const int ranks = static_cast<int>(piece_bytes.size());
  Exchanged all;
  for (int block = 0; block < ranks; ++block) {
    if (block != index) all.send(piece_bytes[at(block)]);
    if (block != (index + 1) % ranks) all.receive(piece_bytes[at(block)]);
  }
  if (ranks == 1) all = {};
  return all;
}

}  // namespace plait::collective
