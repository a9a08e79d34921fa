#include "plait/collective/algorithm/shared_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "plait/base/memory.hpp"
#include "plait/base/rounding.hpp"
#include "plait/collective/node/reduction.hpp"

namespace plait::collective {

namespace {

constexpr auto line = static_cast<Index>(Buffer::alignment);

// The way of chunks through the slots of a group. At its first stage a chunk is put into the slots, and taken out of
// them; at the next one, the slots are free again.
class SlotWay {
 public:
  SlotWay(Graph& graph, const Group& group, const Blocks& blocks, const NodeStages& stages)
      : graph_(graph), group_(group), stages_(stages), order_(blocks.chunks().size()), free_(order_.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return blocks.chunks()[a].front().position() < blocks.chunks()[b].front().position();
    });
  }

  // The chunks in the order in which they come, which is that of their slots: `part` fills them, and uses the others'.
  template <class Part>
  void add(Blocks& blocks, const Part& part) {
    for (std::size_t place = 0; place < order_.size(); ++place) {
      Chunk& chunk = blocks.chunks()[order_[place]];
      const Index slot = slot_of(place);
      const OperationId filled = part.add_fill(chunk, slot, slot_free(place));
      Dependencies ready = exchange(place, chunk.front().position(), filled);
      ready.push_back(filled);
      release(place, chunk.front().position(1), part.add_use(chunk, slot, std::move(ready)));
    }
  }

 private:
  [[nodiscard]] Index slot_of(std::size_t place) const { return static_cast<Index>(place) % stages_.slots(); }
  // What the filling of a slot waits for.
  [[nodiscard]] Dependencies slot_free(std::size_t place) const {
    const auto slots = static_cast<std::size_t>(stages_.slots());
    return place < slots ? Dependencies{} : free_[place - slots];
  }

  // After `filled` here; returns what tells that the others' slots are filled.
  [[nodiscard]] Dependencies exchange(std::size_t place, Position position, OperationId filled) {
    const Index flag = NodeStages::filled(slot_of(place));
    graph_.signal(position, stages_.flags(group_.rank(group_.me())), flag, group_.size() - 1, {filled});
    return await_others(position, flag, filled);
  }

  // After `taken` here.
  void release(std::size_t place, Position next, OperationId taken) {
    const Index flag = NodeStages::done(slot_of(place));
    graph_.signal(next, stages_.flags(group_.rank(group_.me())), flag, group_.size() - 1, {taken},
                  schedule::Tells::end);
    free_[place] = await_others(next, flag, taken);
    free_[place].push_back(taken);
  }

  // Not looked for before `own`, so that few flags are looked at at a time.
  [[nodiscard]] Dependencies await_others(Position position, Index flag, OperationId own) {
    Dependencies all;
    for (int index = 0; index < group_.size(); ++index) {
      if (index != group_.me()) all.push_back(graph_.await(position, stages_.flags(group_.rank(index)), flag, {own}));
    }
    return all;
  }

  Graph& graph_;
  const Group& group_;
  const NodeStages& stages_;
  std::vector<std::size_t> order_;
  std::vector<Dependencies> free_;  // by place in the order
};

// A piece, and where it lies in slots.
struct SlottedPiece {
  Range range;   // in the vector
  Index offset;  // in a slot
  int owner;     // rank of the context
};

std::vector<SlottedPiece> pieces_of(const Group& group, const Blocks& blocks, const Chunk& chunk, Place place) {
  std::vector<SlottedPiece> pieces;
  Index offset = 0;
  for (int index = 0; index < group.size(); ++index) {
    const Segment& piece = chunk[at(index)];
    const Range range = blocks.range(place, piece.begin, piece.end);
    pieces.push_back({range, offset, group.rank(index)});
    offset += range.bytes;
  }
  return pieces;
}

void copy_bytes(std::byte* to, const std::byte* from, Index bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

// This rank's part of the reduce-scatter.
struct SharedReduceScatter {
  Graph& graph;
  const Group& group;
  Blocks& blocks;
  const Reducing& how;
  const NodeStages& stages;

  OperationId add_fill(Chunk& chunk, Index slot, Dependencies after) const {
    for (const Segment& piece : chunk) append(after, piece.final);
    const std::vector<SlottedPiece> pieces = pieces_of(group, blocks, chunk, how.in);
    const int me = group.rank(group.me());
    std::byte* const to = stages.slot(me, slot);
    const auto fill = [pieces, me, to](const schedule::Run& run, Index step) {
      const SlottedPiece& piece = pieces[static_cast<std::size_t>(step)];
      if (piece.owner == me || piece.range.bytes == 0) return;
      copy_bytes(to + piece.offset, run.address(piece.range.slot, piece.range.offset), piece.range.bytes);
    };
    const OperationId filled =
        graph.compute(chunk.front().position(), group.size(), fill, {how.in.slot}, std::move(after));
    for (const SlottedPiece& piece : pieces) {
      if (piece.owner != me) graph.writes_for(filled, piece.owner, piece.range.bytes);
    }
    for (Segment& piece : chunk) piece.readers.push_back(filled);
    return filled;
  }

  OperationId add_use(Chunk& chunk, Index slot, Dependencies after) const {
    const int me = group.me();
    Segment& own = chunk[at(me)];
    append(after, own.readers);
    const SlottedPiece piece = pieces_of(group, blocks, chunk, how.in)[at(me)];
    const Range result = blocks.range(how.out, own.begin, own.end);
    // Where the operand that the result replaces is not one of the first two, the result is made beside it.
    std::byte* const beside = how.in == how.out && me > 1 ? stages.slot(group.rank(me), slot) + piece.offset : nullptr;
    std::vector<const std::byte*> slots;
    slots.reserve(static_cast<std::size_t>(group.size()));
    for (int index = 0; index < group.size(); ++index)
      slots.push_back(stages.slot(group.rank(index), slot) + piece.offset);
    const Index step_bytes = schedule::reduce_step_bytes(how.combine);
    const auto reduce = [=, operands = slots, operation = how.combine](const schedule::Run& run, Index step) mutable {
      const Index done = step * step_bytes;
      const Index bytes = std::min(step_bytes, piece.range.bytes - done);
      for (std::size_t index = 0; index < operands.size(); ++index) operands[index] = slots[index] + done;
      operands[at(me)] = run.address(piece.range.slot, piece.range.offset + done);
      std::byte* const to = run.address(result.slot, result.offset + done);
      std::byte* const made = beside != nullptr ? beside + done : to;
      node::fold(operation, bytes / operation.element_bytes(), operands, made);
      if (made != to) copy_bytes(to, made, bytes);
    };
    const Index steps = quotient_up(piece.range.bytes, step_bytes);
    const OperationId folded =
        graph.compute(own.position(), steps, reduce, {how.in.slot, how.out.slot}, std::move(after));
    for (int index = 0; index < group.size(); ++index) {
      if (index != me) graph.reads_from(folded, group.rank(index), piece.range.bytes);
    }
    own.final = {folded};
    own.readers = {};
    return folded;
  }
};

// This rank's part of the all-gather.
struct SharedAllGather {
  Graph& graph;
  const Group& group;
  Blocks& blocks;
  Place data;
  const NodeStages& stages;

  OperationId add_fill(Chunk& chunk, Index slot, Dependencies after) const {
    Segment& own = chunk[at(group.me())];
    append(after, own.final);
    const SlottedPiece piece = pieces_of(group, blocks, chunk, data)[at(group.me())];
    std::byte* const to = stages.slot(piece.owner, slot) + piece.offset;
    const auto fill = [piece, to](const schedule::Run& run, Index) {
      copy_bytes(to, run.address(piece.range.slot, piece.range.offset), piece.range.bytes);
    };
    const OperationId filled = graph.compute(own.position(), 1, fill, {data.slot}, std::move(after));
    for (int index = 0; index < group.size(); ++index) {
      if (index != group.me()) graph.writes_for(filled, group.rank(index), piece.range.bytes);
    }
    own.readers.push_back(filled);
    return filled;
  }

  OperationId add_use(Chunk& chunk, Index slot, Dependencies after) const {
    const int me = group.rank(group.me());
    const std::vector<SlottedPiece> pieces = pieces_of(group, blocks, chunk, data);
    std::vector<const std::byte*> from;
    from.reserve(pieces.size());
    for (const SlottedPiece& piece : pieces) from.push_back(stages.slot(piece.owner, slot) + piece.offset);
    for (int index = 0; index < group.size(); ++index) {
      if (index != group.me()) append(after, chunk[at(index)].final_and_read());
    }
    const auto take = [pieces, from, me](const schedule::Run& run, Index step) {
      const SlottedPiece& piece = pieces[static_cast<std::size_t>(step)];
      if (piece.owner == me || piece.range.bytes == 0) return;
      copy_bytes(run.address(piece.range.slot, piece.range.offset), from[static_cast<std::size_t>(step)],
                 piece.range.bytes);
    };
    const OperationId taken =
        graph.compute(chunk.front().position(), group.size(), take, {data.slot}, std::move(after));
    for (const SlottedPiece& piece : pieces) {
      if (piece.owner != me) graph.reads_from(taken, piece.owner, piece.range.bytes);
    }
    for (int index = 0; index < group.size(); ++index) {
      if (index == group.me()) continue;
      chunk[at(index)].final = {taken};
      chunk[at(index)].readers = {};
    }
    return taken;
  }
};

}  // namespace

// A slot is used again by a chunk that sets out two stages later, when the flags about the earlier one are behind.
NodeStages::NodeStages(const mpi::Context& context, const Stream& stream)
    : topology_(&context.topology()),
      slots_(std::max<Index>(most_within(stream, 1), 1)),
      slot_bytes_(rounded_up(stream.longest_bytes(), line)),
      flag_bytes_(2 * slots_ * Index{sizeof(schedule::FlagCell)}) {
  flags_.reserve(static_cast<std::size_t>(topology_->node().size()));
}

void NodeStages::share_memory(mpi::Context& context) {
  memory_ = context.shared_staging().lease(flag_bytes_ + slots_ * slot_bytes_, flag_bytes_);
  for (int rank = 0; rank < topology_->node().size(); ++rank)
    flags_.emplace_back(memory_.segment(rank).first(static_cast<std::size_t>(flag_bytes_)), 2 * slots_);
}

std::byte* NodeStages::slot(int rank, Index number) const {
  return memory_.segment(topology_->node_rank_of(rank)).data() + flag_bytes_ + number * slot_bytes_;
}

Blocks reduce_scatter_shared(Graph& graph, const Group& group, Blocks blocks, const Reducing& how,
                             const NodeStages& stages) {
  blocks.expect_one_each(group);
  expect_pairwise(blocks.pieces(), how.combine);
  if (group.contains_me()) {
    SlotWay(graph, group, blocks, stages).add(blocks, SharedReduceScatter{graph, group, blocks, how, stages});
  }
  blocks.add_stages(2);
  return blocks;
}

Blocks all_gather_shared(Graph& graph, const Group& group, Blocks blocks, Place data, const NodeStages& stages) {
  blocks.expect_one_each(group);
  if (group.contains_me()) {
    SlotWay(graph, group, blocks, stages).add(blocks, SharedAllGather{graph, group, blocks, data, stages});
  }
  blocks.add_stages(2);
  return blocks;
}

}  // namespace plait::collective
