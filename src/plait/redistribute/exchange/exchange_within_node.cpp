// How chunks go between ranks that share memory.
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>
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
schedule::Dependencies slot_emptied(const std::vector<OperationId>& emptied, Index number) {
  if (number < NodeRings::slots) return {};
  return {emptied[static_cast<std::size_t>(number - NodeRings::slots)]};
}

}  // namespace

// Without memory for it, which all ranks of a node find alike, messages do as well.
void Exchange::share_memory(const ExchangeKind& kind, Index longest_chunk) {
  try {
    kind.sources_are_shared || kind.targets_are_shared ? share_tiles(kind) : share_rings(longest_chunk);
  } catch (const OutOfMemory&) {
    rings_.reset();
    tiles_.reset();
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
  tiles_are_written_ = kind.targets_are_shared && (!kind.sources_are_shared || are_interleaved != 0);
  const Index tiles = tiles_are_written_ ? targets : sources;
  if (tiles > 0 && context_.topology().node().size() > 1) tiles_.emplace(context_, tiles);
}

// This rank's tiles, for others to read or to write; the execution ends when all of them have.
void Exchange::add_offer(schedule::Graph& graph) {
  const int rank = context_.rank();
  const std::vector<Stream>& visits = tiles_are_written_ ? incoming_ : outgoing_;
  const OperationId offered =
      graph.compute(position_of_offer(), 1, [this, rank, &visits](const schedule::Run& run, Index) {
        std::size_t entry = 0;
        for (std::size_t i = 0; i < matrices_.size(); ++i) {
          if (!movers_[i]) continue;
          const PlannedMatrix& matrix = matrices_[i];
          const std::vector<Tile>& tiles = tiles_are_written_ ? matrix.target : matrix.source;
          const std::vector<mpi::SharedPlace>& places =
              tiles_are_written_ ? matrix.shared_target : matrix.shared_source;
          for (std::size_t t = 0; t < tiles.size(); ++t)
            tiles_->board(rank)[entry++] = {places[t], tiles[t].leading_dimension, tiles[t].order};
        }
        for (const Stream& stream : visits) {
          if (by_message(stream)) continue;
          for (const Chunk& chunk : stream.chunks) {
            tiles_are_written_ ? run.count_received(stream.peer, chunk.bytes)
                               : run.count_sent(stream.peer, chunk.bytes);
          }
        }
      });
  int visitors = 0;
  for (const Stream& stream : visits) {
    if (by_message(stream)) continue;
    ++visitors;
    const int from = tiles_are_written_ ? stream.peer : rank;
    const int to = tiles_are_written_ ? rank : stream.peer;
    graph.await(position_of_release(from, to, context_.size()), tiles_->flags(rank), tiles_->done(stream.peer));
  }
  graph.signal(position_of_offer(), tiles_->flags(rank), SharedTiles::ready(), visitors, {offered});
}

// Another rank's tiles, which this one reads or writes.
void Exchange::add_visit(schedule::Graph& graph, const Stream& stream) {
  find_tiles(stream);
  const int rank = context_.rank();
  const int peer = stream.peer;
  const int from = tiles_are_written_ ? rank : peer;
  const int to = tiles_are_written_ ? peer : rank;
  const schedule::NodeFlags& flags = tiles_->flags(peer);
  const OperationId ready = graph.await(position_of_offer(), flags, SharedTiles::ready());
  schedule::Dependencies all;
  for (Index number = 0; const Chunk& chunk : stream.chunks) {
    all.push_back(graph.compute(position_of_delivery(number++, from, to, context_.size()), chunk.steps(),
                                [this, &chunk, peer](const schedule::Run& run, Index step) {
                                  tiles_are_written_ ? write(chunk, step, peer) : read(chunk, step, peer);
                                  if (step + 1 < chunk.steps()) return;
                                  tiles_are_written_ ? run.count_sent(peer, chunk.bytes)
                                                     : run.count_received(peer, chunk.bytes);
                                },
                                {}, {ready}));
  }
  // Whether a target has all of what it was to have, its owner has to know; not why another could not read a source.
  graph.signal(position_of_release(from, to, context_.size()), flags, tiles_->done(rank), 1, std::move(all),
               tiles_are_written_ ? schedule::Tells::outcome : schedule::Tells::end);
}

// Where the peer's board has the tile of each panel.
void Exchange::find_tiles(const Stream& stream) {
  Index first = 0;
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    if (!movers_[i]) continue;
    const layout::Layout& offered = tiles_are_written_ ? matrices_[i].pair.to : matrices_[i].op_from;
    const std::vector<layout::TilePosition> tiles = offered.owners().owned_by(stream.peer);
    for (const Chunk& chunk : stream.chunks) {
      for (const Piece& piece : chunk.pieces) {
        if (piece.matrix != i) continue;
        const Panel& panel = *piece.panel;
        const auto found = std::lower_bound(tiles.begin(), tiles.end(),
                                            tiles_are_written_ ? panel.target_position : panel.source_position);
        entries_[&panel] = first + (found - tiles.begin());
      }
    }
    first += static_cast<Index>(tiles.size());
  }
}

void Exchange::read(const Chunk& chunk, Index step, int peer) {
  for (const Piece& piece : chunk.step(step)) {
    const PlannedMatrix& matrix = matrices_[piece.matrix];
    movers_[piece.matrix]->move(piece, tiles_->tile(peer, entries_.at(piece.panel)),
                                matrix.target[static_cast<std::size_t>(piece.panel->target_tile)], matrix.transform);
  }
}

void Exchange::write(const Chunk& chunk, Index step, int peer) {
  for (const Piece& piece : chunk.step(step)) {
    const PlannedMatrix& matrix = matrices_[piece.matrix];
    movers_[piece.matrix]->move(piece, matrix.source[static_cast<std::size_t>(piece.panel->source_tile)],
                                tiles_->tile(peer, entries_.at(piece.panel)), matrix.transform, simd::Gaps::fetched);
  }
}

}  // namespace plait::redistribute
