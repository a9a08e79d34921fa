#include "plait/collective/algorithm/exchange.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"

namespace plait::collective {

namespace {

Index elements(const Stream& stream) {
  Index all = 0;
  for (const Segment& segment : stream.segments()) all += segment.elements();
  return all;
}

// The pieces of a block that are not empty.
std::vector<Segment*> pieces(Blocks& blocks, int block) {
  std::vector<Segment*> found;
  for (Chunk& chunk : blocks.chunks()) {
    if (chunk[at(block)].elements() > 0) found.push_back(&chunk[at(block)]);
  }
  return found;
}

Range range(const Blocks& blocks, Place place, const Segment& piece) {
  return blocks.range(place, piece.begin, piece.end);
}

}  // namespace

ExchangedBlocks all_to_all(Graph& graph, const Group& group, ExchangeOrder order, ExchangedBlocks blocks, Place in,
                           Place out, Index begin) {
  blocks.sent.expect_one_each(group);
  blocks.received.expect_one_each(group);
  if (!group.contains_me()) return blocks;
  const int me = group.me();
  const Index kept = elements(blocks.sent.block(me));
  if (kept != elements(blocks.received.block(me))) {
    throw ArgumentError("blocks: " + std::to_string(kept) + " elements sent to the rank itself, " +
                        std::to_string(elements(blocks.received.block(me))) + " received from it, expected as many");
  }
  const bool is_pairwise = order == ExchangeOrder::pairwise;
  const auto position = [&](const Segment& piece, Index step) {
    return is_pairwise ? Position{begin + step, piece.strand, piece.number}
                       : Position{begin + piece.number, piece.strand, step};
  };

  const std::vector<Segment*> own = pieces(blocks.sent, me);
  const std::vector<Segment*> copies = pieces(blocks.received, me);
  for (std::size_t i = 0; i < own.size(); ++i) {
    Dependencies after = copies[i]->final_and_read();
    append(after, own[i]->final);
    const OperationId copied = own_copy(graph, position(*own[i], 0), range(blocks.sent, in, *own[i]),
                                        range(blocks.received, out, *copies[i]), std::move(after));
    own[i]->readers.push_back(copied);
    copies[i]->final = {copied};
    copies[i]->readers = {};
  }
  for (int step = 1; step < group.size(); ++step) {
    const int to = (me + step) % group.size();
    const int from = (me + group.size() - step) % group.size();
    for (Segment* const piece : pieces(blocks.sent, to)) {
      piece->readers.push_back(
          graph.send(position(*piece, step), group.rank(to), range(blocks.sent, in, *piece), piece->final));
    }
    for (Segment* const piece : pieces(blocks.received, from)) {
      piece->final = {graph.receive(position(*piece, step), group.rank(from), range(blocks.received, out, *piece),
                                    piece->final_and_read())};
      piece->readers = {};
    }
  }
  for (Blocks* const side : {&blocks.sent, &blocks.received}) {
    for (Chunk& chunk : side->chunks()) {
      for (Segment& piece : chunk) piece.stage = begin + piece.number + (is_pairwise ? group.widest() : 1);
    }
  }
  return blocks;
}

}  // namespace plait::collective
