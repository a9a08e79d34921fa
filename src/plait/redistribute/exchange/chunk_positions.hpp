#pragma once

#include "plait/base/index.hpp"
#include "plait/schedule/graph.hpp"

namespace plait::redistribute {

// The order of an exchange's operations. All packages advance together, each rank beginning with its next neighbour: no
// rank is the first target of all others.

/// Tiles are offered, to be read or written in place, before anything else.
[[nodiscard]] inline schedule::Position position_of_offer() { return {.stage = -1}; }
/// A chunk has two stages: it is delivered, and the slot that it came through is emptied.
[[nodiscard]] inline schedule::Position position_of_delivery(Index chunk, int from, int to, int ranks) {
  return {.stage = 2 * chunk, .strand = 0, .segment = (to - from + ranks) % ranks};
}
[[nodiscard]] inline schedule::Position position_of_emptying(Index chunk, int from, int to, int ranks) {
  return {.stage = 2 * chunk + 1, .strand = 0, .segment = (to - from + ranks) % ranks};
}
/// What stays on the rank goes in step with chunks that go through memory: what is read in place is written next to it,
/// and what is packed was read next to it, and is still in the caches.
[[nodiscard]] inline schedule::Position position_of_own(Index chunk, int ranks) {
  return {.stage = 2 * chunk, .strand = 0, .segment = ranks};
}
/// Visitors let go of an offer after all chunks.
[[nodiscard]] inline schedule::Position position_of_release(int from, int to, int ranks) {
  return {.stage = INT64_MAX - 1, .strand = 0, .segment = (to - from + ranks) % ranks};
}
/// Where there are chunks to wait for, what stays on the rank is done when nothing else can be.
[[nodiscard]] inline schedule::Position position_after_messages() { return {.stage = INT64_MAX}; }

}  // namespace plait::redistribute
