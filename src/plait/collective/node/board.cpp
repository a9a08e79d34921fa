#include "plait/collective/node/board.hpp"

#include <algorithm>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::collective::node {

namespace {

// Of two ranks each reads no more of the other's slots than it would in two hops; but longer ones leave the first-level
// caches.
constexpr Index longest_slot_of_two = Index{8} << 10;
// All ranks read all slots.
constexpr Index all_slots = Index{16} << 10;
constexpr Index longest_piece = Index{64} << 10;
// With more ranks pieces get shorter, so that what all of them stage stays in the caches.
constexpr Index all_pieces = Index{256} << 10;
constexpr Index least_board_piece = Index{4} << 10;

constexpr Index slot_data_bytes(Index ranks) {
  return ranks == 2 ? longest_slot_of_two : std::clamp(all_slots / ranks, Index{Board::apart}, Board::few_bytes);
}

}  // namespace

Board::Board(mpi::Context& context, Index slot_bytes, Index piece_bytes)
    : rank_(context.topology().node().rank()),
      slot_bytes_(slot_bytes),
      piece_bytes_(piece_bytes),
      staged_at_(slots_at + Index{slots} * slot_bytes) {
  const int ranks = context.topology().node().size();
  const Index ring = PieceRing::bytes_for(piece_bytes);
  results_at_ = staged_at_ + (ranks - 1) * ring;
  const Index bytes = results_at_ + ring;
  mpi::SharedPool& pool = context.shared_staging();
  if (bytes > pool.capacity() / ranks) throw OutOfMemory("shared memory of the node: too little to reduce through");
  // All of it written once, so that the first calls do not wait for the pages.
  mpi::with_memory_on_all_ranks(context.topology().node(), [&] { segments_.reserve(static_cast<std::size_t>(ranks)); });
  memory_ = pool.lease(bytes, bytes);
  for (int rank = 0; rank < ranks; ++rank) segments_.push_back(memory_.segment(rank).data());
}

std::optional<Board> Board::make(mpi::Context& context) {
  const Index ranks = context.topology().node().size();
  const Index slot = PieceRing::rounded_up(slot_data_bytes(ranks) + 1);
  for (Index piece = PieceRing::rounded_up(std::clamp(all_pieces / ranks, least_board_piece, longest_piece));
       piece >= least_board_piece; piece = PieceRing::rounded_up(piece / 2)) {
    try {
      return Board(context, slot, piece);
    } catch (const OutOfMemory&) {
      continue;  // on all ranks of the node; the next is half as long
    }
  }
  return std::nullopt;
}

}  // namespace plait::collective::node
