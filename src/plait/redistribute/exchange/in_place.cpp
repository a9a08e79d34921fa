#include "plait/redistribute/exchange/in_place.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "plait/redistribute/exchange/chunk_positions.hpp"

namespace plait::redistribute {

SharedTiles::SharedTiles(mpi::Context& context, Index tiles) : context_(&context), tiles_(tiles) {
  const int ranks = context.topology().node().size();
  flag_bytes_ = (1 + ranks) * Index{sizeof(schedule::FlagCell)};
  memory_ = context.shared_staging().lease(flag_bytes_ + tiles * Index{sizeof(Entry)}, flag_bytes_);
  for (int owner = 0; owner < ranks; ++owner) flags_.emplace_back(memory_.segment(owner), 1 + ranks);
}

std::span<SharedTiles::Entry> SharedTiles::board(int rank) const {
  const std::span<std::byte> segment = memory_.segment(context_->topology().node_rank_of(rank));
  auto* entries = reinterpret_cast<Entry*>(segment.data() + flag_bytes_);
  return {entries, static_cast<std::size_t>(tiles_)};
}

Tile SharedTiles::tile(int rank, Index entry) const {
  const auto& [place, leading_dimension, order] = board(rank)[static_cast<std::size_t>(entry)];
  return {context_->shared_address(rank, place), leading_dimension, order};
}

InPlace::InPlace(mpi::Context& context, Exchanged exchanged, Index most_tiles)
    : exchanged_(exchanged), context_(context), tiles_(context, most_tiles) {}

void InPlace::add_to(schedule::Graph& graph) {
  add_offer(graph);
  for (const Stream& stream : moved_by_visits()) {
    if (is_neighbour(stream.peer)) add_visit(graph, stream);
  }
}

bool InPlace::is_neighbour(int peer) const { return context_.topology().class_of(peer) == PeerClass::node; }

// The execution ends when all visitors are done.
void InPlace::add_offer(schedule::Graph& graph) {
  const int rank = context_.rank();
  const schedule::OperationId offer =
      graph.compute(position_of_offer(), 1, [this](const schedule::Run&, Index) { write_board(); });
  int visitors = 0;
  for (const Stream& stream : moved_by_visitors()) {
    if (!is_neighbour(stream.peer)) continue;
    for (const Chunk& chunk : stream.chunks) stream.is_moved(graph, offer, chunk);
    ++visitors;
    graph.await(position_of_release(stream.from, stream.to, context_.size()), tiles_.flags(rank),
                tiles_.done(stream.peer));
  }
  graph.signal(position_of_offer(), tiles_.flags(rank), SharedTiles::ready(), visitors, {offer});
}

void InPlace::write_board() {
  const std::span<SharedTiles::Entry> board = tiles_.board(context_.rank());
  std::size_t entry = 0;
  for (std::size_t i = 0; i < exchanged_.matrices.size(); ++i) {
    if (!exchanged_.movers[i]) continue;
    const auto [tiles, places, layout] = offered(exchanged_.matrices[i]);
    for (std::size_t t = 0; t < tiles.size(); ++t)
      board[entry++] = {places[t], tiles[t].leading_dimension, tiles[t].order};
  }
}

void InPlace::add_visit(schedule::Graph& graph, const Stream& stream) {
  find_tiles(stream);
  const auto& [from, to, owner, chunks] = stream;
  const schedule::NodeFlags& flags = tiles_.flags(owner);
  const schedule::OperationId ready = graph.await(position_of_offer(), flags, SharedTiles::ready());
  schedule::Dependencies all;
  for (Index number = 0; const Chunk& chunk : chunks) {
    all.push_back(graph.compute(position_of_delivery(number++, from, to, context_.size()), chunk.steps(),
                                [this, &stream, &chunk](const schedule::Run&, Index step) {
                                  for (const PanelPiece& piece : chunk.step(step))
                                    move(piece, tiles_.tile(stream.peer, entries_.at(piece.panel)));
                                },
                                {}, {ready}));
    stream.is_moved(graph, all.back(), chunk);
  }
  graph.signal(position_of_release(from, to, context_.size()), flags, tiles_.done(context_.rank()), 1, std::move(all),
               told_to_owner());
}

// Where the peer's board has the tile of each panel.
void InPlace::find_tiles(const Stream& stream) {
  Index first = 0;
  for (std::size_t i = 0; i < exchanged_.matrices.size(); ++i) {
    if (!exchanged_.movers[i]) continue;
    const std::vector<layout::TilePosition> tiles =
        offered(exchanged_.matrices[i]).layout.owners().owned_by(stream.peer);
    for (const Chunk& chunk : stream.chunks) {
      for (const PanelPiece& piece : chunk.pieces) {
        if (piece.matrix != i) continue;
        const auto found = std::lower_bound(tiles.begin(), tiles.end(), position_of_tile(*piece.panel));
        entries_[piece.panel] = first + (found - tiles.begin());
      }
    }
    first += static_cast<Index>(tiles.size());
  }
}

InPlace::Offered SourcesInPlace::offered(const PlannedMatrix& matrix) const {
  return {matrix.source, matrix.shared_source, matrix.op_from};
}

layout::TilePosition SourcesInPlace::position_of_tile(const Panel& panel) const { return panel.source_position; }

// Why another could not read a source does not concern its owner.
schedule::Tells SourcesInPlace::told_to_owner() const { return schedule::Tells::end; }

void SourcesInPlace::move(const PanelPiece& piece, const Tile& of_owner) {
  const PlannedMatrix& matrix = exchanged_.matrices[piece.matrix];
  exchanged_.movers[piece.matrix]->move(
      piece, of_owner, matrix.target[static_cast<std::size_t>(piece.panel->target_tile)], matrix.transform);
}

InPlace::Offered TargetsInPlace::offered(const PlannedMatrix& matrix) const {
  return {matrix.target, matrix.shared_target, matrix.pair.to};
}

layout::TilePosition TargetsInPlace::position_of_tile(const Panel& panel) const { return panel.target_position; }

// Whether a target has all of what it was to have, its owner has to know.
schedule::Tells TargetsInPlace::told_to_owner() const { return schedule::Tells::outcome; }

void TargetsInPlace::move(const PanelPiece& piece, const Tile& of_owner) {
  const PlannedMatrix& matrix = exchanged_.matrices[piece.matrix];
  exchanged_.movers[piece.matrix]->move(piece, matrix.source[static_cast<std::size_t>(piece.panel->source_tile)],
                                        of_owner, matrix.transform, simd::Gaps::fetched);
}

}  // namespace plait::redistribute
