#pragma once

#include <algorithm>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/redistribute/packages/pieces.hpp"
#include "plait/schedule/graph.hpp"

namespace plait::redistribute {

/// What goes one way between this rank and another; both cut it alike.
struct Stream {
  int from, to;
  int peer;  ///< the one of them that is not this rank
  std::vector<Chunk> chunks;

  /// In bytes.
  [[nodiscard]] Index longest_chunk() const {
    Index longest = 0;
    for (const Chunk& chunk : chunks) longest = std::max(longest, chunk.bytes);
    return longest;
  }
  /// A chunk that was moved in memory which both ranks share.
  void count(const schedule::Run& run, const Chunk& chunk) const {
    peer == to ? run.count_sent(peer, chunk.bytes) : run.count_received(peer, chunk.bytes);
  }
};

}  // namespace plait::redistribute
