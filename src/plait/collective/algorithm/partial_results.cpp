#include "plait/collective/algorithm/partial_results.hpp"

#include <utility>

namespace plait::collective {

PartialResults::PartialResults(Graph& graph, const Group& group, const Blocks& blocks, Chunk& chunk, Place in,
                               const Combine& combine)
    : graph_(graph), group_(group), blocks_(blocks), chunk_(chunk), combine_(combine), is_operand_(chunk.size(), true) {
  for (const Segment& piece : chunk) {
    lies_.push_back(blocks.range(in, piece.begin, piece.end));
    ready_.push_back(piece.final);
  }
}

void PartialResults::send(Position position, int peer, const PieceRun& run) {
  const Range first = lies_[at(run.blocks.front())];
  Dependencies after;
  for (const int block : run.blocks) append(after, ready_[at(block)]);
  const OperationId sent =
      graph_.send(position, group_.rank(peer), {first.slot, first.offset, run.elements() * blocks_.element_bytes()},
                  std::move(after));
  for (const int block : run.blocks) {
    if (is_operand_[at(block)]) chunk_[at(block)].readers.push_back(sent);
  }
}

// Neighbouring blocks that lie side by side since the same operations are combined as one: a rank that has thousands of
// them would have as many operations otherwise.
void PartialResults::combine_with(Position position, int peer, const std::vector<PieceRun>& runs, PoolId staging,
                                  Side side) {
  if (runs.empty()) return;
  const SlotId slot = graph_.staging(staging);
  Index offset = 0;
  for (const PieceRun& run : runs) {
    const Index bytes = run.elements() * blocks_.element_bytes();
    const OperationId received = graph_.receive(position, group_.rank(peer), {slot, offset, bytes});
    const std::span<const int> blocks = run.blocks;
    for (std::size_t first = 0; first < blocks.size();) {
      std::size_t count = 1;
      while (first + count < blocks.size() && are_one(blocks[first + count - 1], blocks[first + count])) ++count;
      offset = combine(position, received, blocks.subspan(first, count), {slot, offset, 0}, side);
      first += count;
    }
  }
}

bool PartialResults::are_one(int block, int next) const {
  const Range& own = lies_[at(block)];
  const Range& other = lies_[at(next)];
  const bool is_delivered = delivers_ && (block == group_.me() || next == group_.me());
  return !is_delivered && own.slot == other.slot && own.offset + own.bytes == other.offset &&
         is_operand_[at(block)] == is_operand_[at(next)] && ready_[at(block)] == ready_[at(next)];
}

Index PartialResults::combine(Position position, OperationId received, std::span<const int> blocks, Range staged,
                              Side side) {
  const int block = blocks.front();
  Range own = lies_[at(block)];
  own.bytes = lies_[at(blocks.back())].offset + lies_[at(blocks.back())].bytes - own.offset;
  staged.bytes = own.bytes;
  Range result = staged;
  Dependencies after = ready_[at(block)];
  after.push_back(received);
  if (delivers_ && block == group_.me()) {
    const Segment& piece = chunk_[at(block)];
    result = blocks_.range(out_, piece.begin, piece.end);
    append(after, piece.readers);
  }
  const bool comes_left = side == Side::left;
  const OperationId reduced = graph_.reduce_local(position, comes_left ? staged : own, comes_left ? own : staged,
                                                  result, combine_, std::move(after));
  Index offset = result.offset;
  for (const int each : blocks) {
    if (is_operand_[at(each)]) chunk_[at(each)].readers.push_back(reduced);
    is_operand_[at(each)] = false;
    lies_[at(each)] = {result.slot, offset, lies_[at(each)].bytes};
    ready_[at(each)] = {reduced};
    offset += lies_[at(each)].bytes;
  }
  return staged.offset + staged.bytes;
}

}  // namespace plait::collective
