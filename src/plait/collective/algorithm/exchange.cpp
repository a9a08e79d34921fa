#include "plait/collective/algorithm/exchange.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"

namespace plait::collective {

namespace {

int places_on(Index distance, int ranks) {
  const Index places = distance % ranks;
  return static_cast<int>(places < 0 ? places + ranks : places);
}

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

Stream shift(Graph& graph, const Group& group, Index distance, const Stream& stream, Place in, Place out) {
  const int places = places_on(distance, group.size());
  const bool is_staged = group.contains_me() && places != 0 && in == out;
  const PoolId pool = graph.pool(is_staged ? stream.longest_bytes() : 0, staged_blocks(stream, 1));
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    Segment& result = results.emplace_back(segment);
    result.stage += 1;
    if (!group.contains_me()) continue;
    const Position position = segment.position();
    const Range own = stream.range(in, segment);
    const Range coming = stream.range(out, segment);
    if (places == 0) {
      result.final = {own_copy(graph, position, own, coming, segment.final_and_read())};
      continue;
    }
    const int to = group.rank((group.me() + places) % group.size());
    const int from = group.rank((group.me() + group.size() - places) % group.size());
    const OperationId sent = graph.send(position, to, own, segment.final);
    if (is_staged) {
      const Range staged{graph.staging(pool), 0, coming.bytes};
      Dependencies free = segment.readers;
      free.push_back(sent);
      free.push_back(graph.receive(position, from, staged));
      result.final = {own_copy(graph, position, staged, coming, std::move(free))};
      result.readers = {};
    } else {
      result.final = {graph.receive(position, from, coming, segment.final_and_read())};
      result.readers = {sent};
    }
  }
  return {stream.element_bytes(), std::move(results)};
}

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
