// How chunks go between ranks that share memory.
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/redistribute/exchange/chunk_positions.hpp"
#include "plait/redistribute/exchange/exchange.hpp"

namespace plait::redistribute {

using schedule::OperationId;
using schedule::Position;

namespace {

// What a chunk that goes through a slot waits for: that the one before it in that slot is out of it.
schedule::Dependencies slot_emptied(const NodeRings& rings, const std::vector<OperationId>& emptied, Index number) {
  if (number < rings.slots()) return {};
  return {emptied[static_cast<std::size_t>(number - rings.slots())]};
}

}  // namespace

// Without memory for it, which all ranks of a node find alike, messages do as well.
void Exchange::share_memory(const ExchangeKind& kind, NodeTraffic traffic) {
  try {
    kind.sources_are_shared || kind.targets_are_shared ? share_tiles(kind) : share_rings(traffic);
  } catch (const OutOfMemory&) {
    rings_.reset();
    in_place_.reset();
  }
}

void Exchange::share_rings(NodeTraffic traffic) {
  if (slot_bytes_ == 0 || traffic.longest_chunk == 0) return;
  rings_.emplace(context_, traffic, ring_memory_);
  into_slots_.emplace(rings_->slots() * traffic.longest_chunk);
}

void Exchange::add_rings(schedule::Graph& graph) {
  for (const Stream& stream : outgoing_) {
    if (!by_message(stream)) add_ring_out(graph, stream);
  }
  for (const Stream& stream : incoming_) {
    if (!by_message(stream)) add_ring_in(graph, stream);
  }
}

void Exchange::add_ring_out(schedule::Graph& graph, const Stream& stream) {
  const auto& [from, to, peer, chunks] = stream;
  const schedule::NodeFlags flags = rings_->flags(from);
  std::vector<OperationId> emptied;
  for (Index number = 0; const Chunk& chunk : chunks) {
    const Position position = position_of_delivery(number, from, to, context_.size());
    std::byte* slot = rings_->slot(from, to, number);
    const OperationId packed = graph.compute(
        position, chunk.steps(),
        [this, &chunk, slot](const schedule::Run&, Index step) {
          const Stopwatch watch;
          pack(chunk, step, slot, into_slots_->next(chunk.bytes));
          into_slots_->took(chunk.bytes, watch.seconds());
        },
        {}, slot_emptied(*rings_, emptied, number));
    stream.is_moved(graph, packed, chunk);
    const OperationId filled = graph.signal(position, flags, rings_->filled(to, number), 1, {packed});
    emptied.push_back(graph.await(position_of_emptying(number, from, to, context_.size()), flags,
                                  rings_->emptied(to, number), {filled}));
    ++number;
  }
}

void Exchange::add_ring_in(schedule::Graph& graph, const Stream& stream) {
  const auto& [from, to, peer, chunks] = stream;
  const schedule::NodeFlags flags = rings_->flags(from);
  std::vector<OperationId> emptied;
  for (Index number = 0; const Chunk& chunk : chunks) {
    const Position position = position_of_delivery(number, from, to, context_.size());
    // Earlier than that it is not looked for: few flags are polled at a time.
    const OperationId filled =
        graph.await(position, flags, rings_->filled(to, number), slot_emptied(*rings_, emptied, number));
    const std::byte* slot = rings_->slot(from, to, number);
    const OperationId unpacked = graph.compute(
        position, chunk.steps(), [this, &chunk, slot](const schedule::Run&, Index step) { unpack(chunk, step, slot); },
        {}, {filled});
    stream.is_moved(graph, unpacked, chunk);
    emptied.push_back(graph.signal(position_of_emptying(number, from, to, context_.size()), flags,
                                   rings_->emptied(to, number), 1, {unpacked}, schedule::Tells::end));
    ++number;
  }
}

Index Exchange::count_tiles(std::vector<layout::TileExtent> PlannedMatrix::* of) const {
  Index tiles = 0;
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    if (movers_[i]) tiles += std::ssize(matrices_[i].*of);
  }
  return tiles;
}

// Where a rank could choose, it reads the sources of others. But sources in which lies, between what one rank wants,
// what another does, are read by all of these; it is better that their owner reads them, once.
void Exchange::share_tiles(const ExchangeKind& kind) {
  std::array<Index, 3> most{count_tiles(&PlannedMatrix::source_tiles), count_tiles(&PlannedMatrix::target_tiles),
                            is_interleaved_ ? 1 : 0};
  mpi::all_reduce(context_.topology().node(), most, mpi::Operation::maximum());
  const auto [sources, targets, are_interleaved] = most;
  const bool are_written = kind.targets_are_shared && (!kind.sources_are_shared || are_interleaved != 0);
  const Index tiles = are_written ? targets : sources;
  if (tiles == 0 || context_.topology().node().size() == 1) return;
  const InPlace::Exchanged exchanged{matrices_, movers_, outgoing_, incoming_};
  if (are_written)
    in_place_ = std::make_unique<TargetsInPlace>(context_, exchanged, tiles);
  else
    in_place_ = std::make_unique<SourcesInPlace>(context_, exchanged, tiles);
}

}  // namespace plait::redistribute
