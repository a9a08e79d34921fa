#include <algorithm>
#include <utility>

#include "plait/base/doublings.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"

namespace plait::collective {

namespace {

void add_doubling(Graph& graph, const Group& group, const Blocks& blocks, Chunk& chunk, Place data) {
  const int ranks = group.size();
  for (int round = 0, skip = 1; skip < ranks; ++round, skip *= 2) {
    const Position position = chunk.front().position(round);
    const int count = std::min(skip, ranks - skip);
    const int further = (group.me() + skip) % ranks;
    const int before = (group.me() + ranks - skip) % ranks;
    for (const PieceRun& run : runs(chunk, group.me(), count)) {
      const Range range = blocks.range(data, run.begin, run.end);
      const OperationId sent = graph.send(position, group.rank(before), range, finals(chunk, run));
      for (const int block : run.blocks) chunk[at(block)].readers.push_back(sent);
    }
    for (const PieceRun& run : runs(chunk, further, count)) {
      const Range range = blocks.range(data, run.begin, run.end);
      const OperationId received = graph.receive(position, group.rank(further), range, finals_and_readers(chunk, run));
      for (const int block : run.blocks) {
        chunk[at(block)].final = {received};
        chunk[at(block)].readers = {};
      }
    }
  }
}

}  // namespace

// The way of each block is a chain that begins at its rank. It goes the way that the chains of `reduce_scatter_ring`
// go: if data went both ways between two ranks, what a receiver answers to a long message would stand behind its own
// data.
Blocks all_gather_ring(Graph& graph, const Group& group, Blocks blocks, Place data) {
  blocks.expect_one_each(group);
  const Group down = group.reversed();
  std::vector<Stream> gathered;
  gathered.reserve(at(group.size()));
  for (int index = 0; index < group.size(); ++index)
    gathered.push_back(broadcast_chain(graph, down, group.size() - 1 - index, blocks.block(index), data));
  blocks.replace(gathered);
  return blocks;
}

Blocks all_gather_doubling(Graph& graph, const Group& group, Blocks blocks, Place data) {
  blocks.expect_one_each(group);
  for (Chunk& chunk : blocks.chunks()) {
    if (group.contains_me()) add_doubling(graph, group, blocks, chunk, data);
  }
  blocks.add_stages(doublings(group.widest()));
  return blocks;
}

}  // namespace plait::collective
