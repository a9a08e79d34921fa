#include "plait/redistribute/shared_sources.hpp"

namespace plait::redistribute {

SharedSources::SharedSources(mpi::Context& context, Index tiles) : context_(&context), tiles_(tiles) {
  const int ranks = context.topology().node().size();
  flag_bytes_ = (1 + ranks) * Index{sizeof(schedule::FlagCell)};
  memory_ = context.shared_staging().lease(flag_bytes_ + tiles * Index{sizeof(Entry)}, flag_bytes_);
  for (int source = 0; source < ranks; ++source) flags_.emplace_back(memory_.segment(source), 1 + ranks);
}

std::span<SharedSources::Entry> SharedSources::board(int rank) const {
  const std::span<std::byte> segment = memory_.segment(context_->topology().node_rank_of(rank));
  auto* entries = reinterpret_cast<Entry*>(segment.data() + flag_bytes_);
  return {entries, static_cast<std::size_t>(tiles_)};
}

Tile SharedSources::tile(int rank, Index entry) const {
  const auto& [place, leading_dimension, order] = board(rank)[static_cast<std::size_t>(entry)];
  return {context_->shared_address(rank, place), leading_dimension, order};
}

}  // namespace plait::redistribute
