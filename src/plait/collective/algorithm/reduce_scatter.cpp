#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/doublings.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"
#include "plait/collective/stream.hpp"
#include "plait/model/pairing.hpp"

namespace plait::collective {

namespace {

using schedule::Combine;

/// What a rank has made of a chunk's pieces in the middle of a reduce-scatter: for each block where the partial result
/// lies, and after what. At first that is the rank's own operand.
class PartialResults {
 public:
  /// All outlive this. Operations that read the operand become readers of the chunk's pieces.
  PartialResults(Graph& graph, const Group& group, const Blocks& blocks, Chunk& chunk, Place in,
                 const Combine& combine);

  /// Sends the partial results of a run to the `peer`-th of the group.
  /// \pre  they lie one behind the other
  void send(Position position, int peer, const PieceRun& run);

  /// Where what comes from a peer is to stand.
  enum class Side : unsigned char { left, right };

  /// Receives those of the `peer`-th for some runs, and combines them with those that are here: they come to lie one
  /// behind the other in staging memory, in the order of the runs.
  void combine_with(Position position, int peer, const std::vector<PieceRun>& runs, PoolId staging, Side side);

  /// From now on the results of this rank's block come to lie in `out`.
  void deliver_own_to(Place out) { out_ = out, delivers_ = true; }

  /// The operations after which this rank's piece is what it is now.
  [[nodiscard]] const Dependencies& ready() const { return ready_[static_cast<std::size_t>(group_.me())]; }

 private:
  /// Whether a block and the next one can be combined at once.
  [[nodiscard]] bool are_one(int block, int next) const;
  /// Some neighbouring blocks, with what was received at the place of `staged`. Returns where that ends.
  Index combine(Position position, OperationId received, std::span<const int> blocks, Range staged, Side side);

  Graph& graph_;
  const Group& group_;
  const Blocks& blocks_;
  Chunk& chunk_;
  const Combine& combine_;
  Place out_{};
  bool delivers_ = false;
  // By block.
  std::vector<Range> lies_;
  std::vector<Dependencies> ready_;
  std::vector<bool> is_operand_;
};

using model::Pairing;
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

using Side = PartialResults::Side;
using Runs = std::vector<PieceRun>;

void append_runs(Runs& all, const Runs& some) { all.insert(all.end(), some.begin(), some.end()); }

// This rank's part in all chunks of either way.
struct Halving {
  Graph& graph;
  const Group& group;
  Blocks& blocks;
  const Reducing& how;
  const Places& out;

  // For what is received in a round and handed over in the next one.
  template <class Received>  // Runs(const Chunk&)
  [[nodiscard]] PoolId pool_for(Received received) const {
    Index longest = 0;
    for (const Chunk& chunk : blocks.chunks()) {
      Index elements = 0;
      for (const PieceRun& run : received(chunk)) elements += run.elements();
      longest = std::max(longest, elements * blocks.element_bytes());
    }
    return graph.pool(longest, staged_blocks(blocks.block(0), 1));
  }
  [[nodiscard]] PartialResults operands_of(Chunk& chunk) const {
    return {graph, group, blocks, chunk, how.in, how.combine};
  }
  [[nodiscard]] Place out_of(const Chunk& chunk) const {
    return out.of(static_cast<std::size_t>(&chunk - blocks.chunks().data()));
  }
  void end(Chunk& chunk, Dependencies final) const {
    chunk[at(group.me())].final = std::move(final);
    chunk[at(group.me())].readers = {};
  }
};

// In the round with a skip of 2ᵏ, each rank sends the rank 2ᵏ places further what is to go to the ranks from there on.
// Numbers below are distances from the own rank, around the ring.
struct Circulant : Halving {
  [[nodiscard]] int ranks() const { return group.size(); }
  [[nodiscard]] int rounds() const { return doublings(ranks()); }
  [[nodiscard]] static int skip(int round) { return 1 << round; }
  [[nodiscard]] int count(int round) const { return std::min(skip(round), ranks() - skip(round)); }

  // What a message of the rank `index` holds in this round, in as many runs as its partial results lie in: those that
  // it received the first time, and those which are its operands as yet.
  [[nodiscard]] Runs sent_by(const Chunk& chunk, int index, int round) const {
    const int first = skip(round);
    const int last = first + count(round);
    const int received = round == rounds() - 2 ? std::clamp(count(rounds() - 1), first, last) : last;
    Runs all = runs(chunk, (index + first) % ranks(), received - first);
    append_runs(all, runs(chunk, (index + received) % ranks(), last - received));
    return all;
  }
  [[nodiscard]] int before(int round) const { return (group.me() + ranks() - skip(round)) % ranks(); }

  void add() {
    std::vector<PoolId> pools;
    pools.reserve(at(rounds()));
    for (int round = 0; round < rounds(); ++round)
      pools.push_back(pool_for([&](const Chunk& chunk) { return sent_by(chunk, before(round), round); }));
    for (Chunk& chunk : blocks.chunks()) {
      PartialResults partial = operands_of(chunk);
      for (int round = rounds() - 1; round >= 0; --round) {
        const Position position = chunk.front().position(rounds() - 1 - round);
        for (const PieceRun& run : sent_by(chunk, group.me(), round))
          partial.send(position, (group.me() + skip(round)) % ranks(), run);
        if (round == 0) partial.deliver_own_to(out_of(chunk));
        partial.combine_with(position, before(round), sent_by(chunk, before(round), round), pools[at(round)],
                             Side::left);
      }
      end(chunk, partial.ready());
    }
  }
};

// Round 0 brings the operands of pairs together, the last one hands over the results of those that did not act.
struct Ordered : Halving {
  Pairing pairing{group.size()};

  // Of the blocks that `actor` deals with before this round (1, 2, …), those whose numbers are as its own in the bit
  // that it is about, or the others.
  [[nodiscard]] Runs pieces_of(const Chunk& chunk, int actor, int round, bool own) const {
    const int bit = 1 << (round - 1);
    Runs all;
    for (int other = (own ? actor : actor ^ bit) % (2 * bit); other < pairing.actors; other += 2 * bit)
      append_runs(all, runs(chunk, pairing.first_rank(other), pairing.ranks_of(other)));
    return all;
  }

  void add() { pairing.is_folded(group.me()) ? add_folded() : add_acting(); }

  void add_folded() {
    const int me = group.me();
    for (Chunk& chunk : blocks.chunks()) {
      PartialResults partial = operands_of(chunk);
      for (const PieceRun& run : runs(chunk, 0, group.size())) partial.send(chunk.front().position(), me - 1, run);
      const Segment& piece = chunk[at(me)];
      end(chunk, {graph.receive(piece.position(pairing.rounds() + 1), group.rank(me - 1),
                                blocks.range(out_of(chunk), piece.begin, piece.end), piece.final_and_read())});
    }
  }

  void add_acting() {
    const int me = group.me();
    const int actor = pairing.actor_of(me);
    const bool for_two = pairing.acts_for_two(me);
    std::vector<PoolId> pools;
    pools.push_back(pool_for([&](const Chunk& chunk) { return for_two ? runs(chunk, 0, group.size()) : Runs(); }));
    for (int round = 1; round <= pairing.rounds(); ++round)
      pools.push_back(pool_for([&](const Chunk& chunk) { return pieces_of(chunk, actor, round, true); }));

    for (Chunk& chunk : blocks.chunks()) {
      PartialResults partial = operands_of(chunk);
      if (for_two)
        partial.combine_with(chunk.front().position(), me + 1, runs(chunk, 0, group.size()), pools[0], Side::right);
      for (int round = 1; round <= pairing.rounds(); ++round) {
        const Position position = chunk.front().position(round);
        const int other = actor ^ (1 << (round - 1));
        const int peer = pairing.first_rank(other);
        for (const PieceRun& run : pieces_of(chunk, actor, round, false)) partial.send(position, peer, run);
        if (round == pairing.rounds()) partial.deliver_own_to(out_of(chunk));
        partial.combine_with(position, peer, pieces_of(chunk, actor, round, true), pools[at(round)],
                             other < actor ? Side::left : Side::right);
      }
      if (for_two) {
        for (const PieceRun& run : runs(chunk, me + 1, 1))
          partial.send(chunk.front().position(pairing.rounds() + 1), me + 1, run);
      }
      end(chunk, partial.ready());
    }
  }
};

void copy_own(const Halving& halving) {
  for (Chunk& chunk : halving.blocks.chunks()) {
    const Segment& piece = chunk.front();
    const Range from = halving.blocks.range(halving.how.in, piece.begin, piece.end);
    const Range to = halving.blocks.range(halving.out_of(chunk), piece.begin, piece.end);
    halving.end(chunk, {own_copy(halving.graph, piece.position(), from, to, piece.final_and_read())});
  }
}

}  // namespace

// The way of each block is a chain that ends at its rank.
Blocks reduce_scatter_ring(Graph& graph, const Group& group, Blocks blocks, const Reducing& how) {
  if (!how.combine.commutes()) return reduce_scatter_halving(graph, group, std::move(blocks), how);
  blocks.expect_one_each(group);
  const bool combines = group.contains_me() && group.size() > 1;
  const PoolId staging =
      graph.pool(combines ? blocks.pieces().longest_bytes() : 0, staged_blocks(blocks.block(0), group.size() - 1));
  std::vector<Stream> reduced;
  reduced.reserve(static_cast<std::size_t>(group.size()));
  for (int index = 0; index < group.size(); ++index)
    reduced.push_back(reduce_chain(graph, group, index, blocks.block(index), how, staging));
  blocks.replace(reduced);
  return blocks;
}

Place at_beginning(const Group& group, const Blocks& blocks, Place out) {
  if (!group.contains_me()) return out;
  return {out.slot, out.offset - blocks.extent(group.me()).first * blocks.element_bytes()};
}

Blocks reduce_scatter_halving(Graph& graph, const Group& group, Blocks blocks, const Reducing& how) {
  return reduce_scatter_halving(graph, group, std::move(blocks), how, Places(how.out));
}

Blocks reduce_scatter_halving(Graph& graph, const Group& group, Blocks blocks, const Reducing& how, const Places& out) {
  blocks.expect_one_each(group);
  expect_pairwise(blocks.pieces(), how.combine);
  const Halving halving{graph, group, blocks, how, out};
  if (group.contains_me()) {
    if (group.size() == 1) {
      copy_own(halving);
    } else if (how.combine.commutes()) {
      Circulant{halving}.add();
    } else {
      Ordered{halving}.add();
    }
  }
  blocks.add_stages(how.combine.commutes() ? doublings(group.widest()) : Pairing(group.widest()).rounds() + 2);
  return blocks;
}

}  // namespace plait::collective
