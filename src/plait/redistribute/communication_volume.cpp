#include "plait/redistribute/communication_volume.hpp"

#include <algorithm>
#include <vector>

namespace plait::redistribute {

CommunicationVolume communication_volume(Incoming& incoming, std::span<const int> rank_of) {
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

}  // namespace plait::redistribute
