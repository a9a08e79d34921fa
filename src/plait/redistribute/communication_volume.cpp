#include "plait/redistribute/communication_volume.hpp"

#include <algorithm>
#include <vector>

#include "plait/layout/common_parts.hpp"

namespace plait::redistribute {

namespace {

using layout::Layout;
using layout::TilePosition;

bool is_one_tile_a_rank(const Layout& layout) {
  return layout.owners().distinct() == layout.owners().rows() * layout.owners().columns();
}

Index elements_of(const Layout& layout, TilePosition tile) {
  return layout.rows().local_extent(tile.row) * layout.columns().local_extent(tile.column);
}

// What a rank sends is what it has, but for what it keeps; and pairs of ranks that exchange something are those whose
// rows meet and whose columns do.
CommunicationVolume volume_of_tiles(const SizedPair& sized, std::span<const int> rank_of) {
  const Layout from = sized.pair.op_from();
  const Layout& to = sized.pair.to;
  CommunicationVolume volume;
  if (to.shape().empty()) return volume;
  volume.messages =
      layout::pairs_in_common(from.rows(), to.rows()) * layout::pairs_in_common(from.columns(), to.columns());
  const auto count = [&](Index elements) {
    volume.largest_rank_bytes = std::max(volume.largest_rank_bytes, elements * sized.element_bytes);
  };
  std::vector<Index> kept(static_cast<std::size_t>(from.ranks()), 0);
  for (int role = 0; role < to.ranks(); ++role) {
    const int rank = rank_of.empty() ? role : rank_of[static_cast<std::size_t>(role)];
    for (const TilePosition target : to.owners().owned_by(role)) {
      Index received = elements_of(to, target);
      for (const TilePosition source : from.owners().owned_by(rank)) {
        const Index common = layout::common_length(from.rows(), source.row, to.rows(), target.row) *
                             layout::common_length(from.columns(), source.column, to.columns(), target.column);
        kept[static_cast<std::size_t>(rank)] = common;
        received -= common;
        if (common > 0) --volume.messages;
      }
      count(received);
      volume.bytes += received * sized.element_bytes;
    }
  }
  for (int rank = 0; rank < from.ranks(); ++rank) {
    for (const TilePosition source : from.owners().owned_by(rank)) {
      count(elements_of(from, source) - kept[static_cast<std::size_t>(rank)]);
    }
  }
  return volume;
}

}  // namespace

CommunicationVolume communication_volume(Incoming& incoming, std::span<const int> rank_of) {
  if (incoming.pairs().size() == 1) {
    const SizedPair& only = incoming.pairs().front();
    const bool is_simple = is_one_tile_a_rank(only.pair.from) && is_one_tile_a_rank(only.pair.to);
    if (is_simple && !only.pair.part) return volume_of_tiles(only, rank_of);
  }
  const auto ranks = std::max(static_cast<std::size_t>(incoming.ranks()), rank_of.size());
  std::vector<Index> sent(ranks, 0);
  std::vector<Index> received(ranks, 0);
  CommunicationVolume volume;
  for (int role = 0; role < incoming.ranks(); ++role) {
    const int rank = rank_of.empty() ? role : rank_of[static_cast<std::size_t>(role)];
    for (const auto& [from, package] : incoming.of(role)) {
      if (from == rank) continue;
      ++volume.messages;
      volume.bytes += package.bytes;
      sent[static_cast<std::size_t>(from)] += package.bytes;
      received[static_cast<std::size_t>(rank)] += package.bytes;
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    volume.largest_rank_bytes = std::max({volume.largest_rank_bytes, sent[rank], received[rank]});
  }
  return volume;
}

Index bytes_between_nodes(Incoming& incoming, std::span<const int> node_of, std::span<const int> rank_of) {
  Index bytes = 0;
  for (int role = 0; role < incoming.ranks(); ++role) {
    const int rank = rank_of.empty() ? role : rank_of[static_cast<std::size_t>(role)];
    for (const auto& [from, package] : incoming.of(role)) {
      if (node_of[static_cast<std::size_t>(from)] != node_of[static_cast<std::size_t>(rank)]) bytes += package.bytes;
    }
  }
  return bytes;
}

}  // namespace plait::redistribute
