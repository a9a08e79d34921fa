// How chunks go between ranks that share memory.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/redistribute/chunk_positions.hpp"
#include "plait/redistribute/exchange.hpp"

namespace plait::redistribute {

using schedule::OperationId;
using schedule::Position;

namespace {

// What a chunk that goes through a slot waits for: that the one before it in that slot is out of it.
schedule::Dependencies slot_emptied(const std::vector<OperationId>& emptied, Index number) {
  if (number < NodeRings::slots) return {};
  return {emptied[static_cast<std::size_t>(number - NodeRings::slots)]};
}

}  // namespace

// Without memory for it, which all ranks of a node find alike, messages do as well.
void Exchange::share_memory(bool sources_are_shared, Index longest_chunk) {
  try {
    sources_are_shared ? share_sources() : share_rings(longest_chunk);
  } catch (const OutOfMemory&) {
    rings_.reset();
    sources_.reset();
  }
}

void Exchange::share_rings(Index longest_chunk) {
  if (slot_bytes_ == 0 || longest_chunk == 0) return;
  rings_.emplace(context_, longest_chunk);
  into_slots_.emplace(NodeRings::slots * longest_chunk);
}

void Exchange::add_ring_out(schedule::Graph& graph, const Stream& stream) {
  const int rank = context_.rank();
  const int peer = stream.peer;
  const schedule::NodeFlags& flags = rings_->flags(rank);
  std::vector<OperationId> emptied;
  for (Index number = 0; const Chunk& chunk : stream.chunks) {
    const Position position = position_of_delivery(number, rank, peer, context_.size());
    std::byte* slot = rings_->slot(rank, peer, number);
    const OperationId packed = graph.compute(
        position, chunk.steps(),
        [this, &chunk, slot, peer](const schedule::Run& run, Index step) {
          const Stopwatch watch;
          pack(chunk, step, slot, into_slots_->next(chunk.bytes));
          into_slots_->took(chunk.bytes, watch.seconds());
          if (step + 1 == chunk.steps()) run.count_sent(peer, chunk.bytes);
        },
        {}, slot_emptied(emptied, number));
    const OperationId filled = graph.signal(position, flags, rings_->filled(peer, number), 1, {packed});
    emptied.push_back(graph.await(position_of_emptying(number, rank, peer, context_.size()), flags,
                                  rings_->emptied(peer, number), {filled}));
    ++number;
  }
}

void Exchange::add_ring_in(schedule::Graph& graph, const Stream& stream) {
  const int rank = context_.rank();
  const int peer = stream.peer;
  const schedule::NodeFlags& flags = rings_->flags(peer);
  std::vector<OperationId> emptied;
  for (Index number = 0; const Chunk& chunk : stream.chunks) {
    const Position position = position_of_delivery(number, peer, rank, context_.size());
    // Earlier than that it is not looked for: few flags are polled at a time.
    const OperationId filled =
        graph.await(position, flags, rings_->filled(rank, number), slot_emptied(emptied, number));
    const std::byte* slot = rings_->slot(peer, rank, number);
    const OperationId unpacked = graph.compute(position, chunk.steps(),
                                               [this, &chunk, slot, peer](const schedule::Run& run, Index step) {
                                                 unpack(chunk, step, slot);
                                                 if (step + 1 == chunk.steps()) run.count_received(peer, chunk.bytes);
                                               },
                                               {}, {filled});
    emptied.push_back(graph.signal(position_of_emptying(number, peer, rank, context_.size()), flags,
                                   rings_->emptied(rank, number), 1, {unpacked}, schedule::Tells::end));
    ++number;
  }
}

void Exchange::share_sources() {
  Index tiles = 0;
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    if (movers_[i]) tiles += static_cast<Index>(matrices_[i].source_order.size());
  }
  tiles = mpi::all_reduce(context_.topology().node(), tiles, mpi::Operation::maximum());
  if (tiles > 0 && context_.topology().node().size() > 1) sources_.emplace(context_, tiles);
}

// This rank's tiles, for others to read; the execution ends when all of them have.
void Exchange::add_offer(schedule::Graph& graph) {
  const int rank = context_.rank();
  const OperationId written = graph.compute(position_of_offer(), 1, [this, rank](const schedule::Run& run, Index) {
    std::size_t entry = 0;
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
      if (!movers_[i]) continue;
      const PlannedMatrix& matrix = matrices_[i];
      for (std::size_t t = 0; t < matrix.source.size(); ++t) {
        sources_->board(rank)[entry++] = {matrix.shared_source[t], matrix.source[t].leading_dimension,
                                          matrix.source[t].order};
      }
    }
    for (const Stream& stream : outgoing_) {
      if (by_message(stream)) continue;
      for (const Chunk& chunk : stream.chunks) run.count_sent(stream.peer, chunk.bytes);
    }
  });
  int readers = 0;
  for (const Stream& stream : outgoing_) {
    if (by_message(stream)) continue;
    ++readers;
    graph.await(position_of_release(rank, stream.peer, context_.size()), sources_->flags(rank),
                sources_->done(stream.peer));
  }
  graph.signal(position_of_offer(), sources_->flags(rank), SharedSources::ready(), readers, {written});
}

void Exchange::add_reads(schedule::Graph& graph, const Stream& stream) {
  const int rank = context_.rank();
  const int peer = stream.peer;
  // Where the peer's board has the tile of each panel.
  Index first = 0;
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    if (!movers_[i]) continue;
    const std::vector<layout::TilePosition> tiles = matrices_[i].op_from.owners().owned_by(peer);
    for (const Chunk& chunk : stream.chunks) {
      for (const Piece& piece : chunk.pieces) {
        if (piece.matrix != i) continue;
        const auto found = std::lower_bound(tiles.begin(), tiles.end(), piece.panel->source_position);
        entries_[piece.panel] = first + (found - tiles.begin());
      }
    }
    first += static_cast<Index>(tiles.size());
  }

  const schedule::NodeFlags& flags = sources_->flags(peer);
  const OperationId ready = graph.await(position_of_offer(), flags, SharedSources::ready());
  schedule::Dependencies all;
  for (Index number = 0; const Chunk& chunk : stream.chunks) {
    all.push_back(graph.compute(position_of_delivery(number++, peer, rank, context_.size()), chunk.steps(),
                                [this, &chunk, peer](const schedule::Run& run, Index step) {
                                  read(chunk, step, peer);
                                  if (step + 1 == chunk.steps()) run.count_received(peer, chunk.bytes);
                                },
                                {}, {ready}));
  }
  graph.signal(position_of_release(peer, rank, context_.size()), flags, sources_->done(rank), 1, std::move(all),
               schedule::Tells::end);
}

void Exchange::read(const Chunk& chunk, Index step, int peer) {
  for (const Piece& piece : chunk.step(step)) {
    const PlannedMatrix& matrix = matrices_[piece.matrix];
    movers_[piece.matrix]->move(piece, sources_->tile(peer, entries_.at(piece.panel)),
                                matrix.target[static_cast<std::size_t>(piece.panel->target_tile)], matrix.transform);
  }
}

}  // namespace plait::redistribute
