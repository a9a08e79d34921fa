#include "plait/redistribute/exchange/shared_tiles.hpp"

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

}  // namespace plait::redistribute
