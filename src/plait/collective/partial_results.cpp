#include "plait/collective/partial_results.hpp"

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
  for (const int block : run.blocks) after.insert(after.end(), ready_[at(block)].begin(), ready_[at(block)].end());
  const OperationId sent =
      graph_.send(position, group_.rank(peer), {first.slot, first.offset, run.elements() * blocks_.element_bytes()},
                  std::move(after));
  for (const int block : run.blocks) {
    if (is_operand_[at(block)]) chunk_[at(block)].readers.push_back(sent);
  }
}

void PartialResults::combine_with(Position position, int peer, const std::vector<PieceRun>& runs, PoolId staging,
                                  Side side) {
  if (runs.empty()) return;
  const SlotId slot = graph_.staging(staging);
  Index offset = 0;
  for (const PieceRun& run : runs) {
    const Index bytes = run.elements() * blocks_.element_bytes();
    const OperationId received = graph_.receive(position, group_.rank(peer), {slot, offset, bytes});
    for (const int block : run.blocks) {
      Segment& piece = chunk_[at(block)];
      Range& own = lies_[at(block)];
      const Range staged{slot, offset, own.bytes};
      Range result = staged;
      Dependencies after = ready_[at(block)];
      after.push_back(received);
      if (delivers_ && block == group_.me()) {
        result = blocks_.range(out_, piece.begin, piece.end);
        after.insert(after.end(), piece.readers.begin(), piece.readers.end());
      }
      const bool comes_left = side == Side::left;
      const OperationId reduced = graph_.reduce_local(position, comes_left ? staged : own, comes_left ? own : staged,
                                                      result, combine_, std::move(after));
      if (is_operand_[at(block)]) piece.readers.push_back(reduced);
      is_operand_[at(block)] = false;
      own = result;
      ready_[at(block)] = {reduced};
      offset += staged.bytes;
    }
  }
}

}  // namespace plait::collective
