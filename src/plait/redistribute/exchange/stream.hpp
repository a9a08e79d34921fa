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
  /// Says that a computation moves this chunk in memory which both ranks share.
  void is_moved(schedule::Graph& graph, schedule::OperationId by, const Chunk& chunk) const {
    peer == to ? graph.writes_for(by, peer, chunk.bytes) : graph.reads_from(by, peer, chunk.bytes);
  }
};

}  // namespace plait::redistribute
