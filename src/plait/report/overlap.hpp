#pragma once

#include <array>
#include <vector>

#include "plait/base/counters.hpp"
#include "plait/report/trace.hpp"

namespace plait::report {

/// How one rank spent the time, in nanoseconds.
struct RankOverlap {
  Nanoseconds running = 0;    ///< some run was not over
  Nanoseconds computing = 0;  ///< in computations and in combining operands
  Nanoseconds posting = 0;    ///< in the calls of MPI that post
  Nanoseconds waiting = 0;    ///< in `wait` with nothing to work on, until a communication ended
  Nanoseconds under_way = 0;  ///< communication with other ranks was
  Nanoseconds hidden = 0;     ///< of this, while the rank computed
  TrafficCounters traffic{};  ///< of all runs

  /// What is left of `running`: looking at the network, bookkeeping, the program between `start` and `wait`.
  [[nodiscard]] Nanoseconds rest() const noexcept { return running - computing - posting - waiting; }
  friend bool operator==(const RankOverlap&, const RankOverlap&) = default;
};

/// What a node exchanged with others by messages, and how long some of that was on its way.
struct LinkUse {
  std::array<Index, 2> bytes{};       ///< out of the node, into it
  std::array<Nanoseconds, 2> busy{};  ///< likewise
  friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

/// What overlapped in a trace.
struct Overlap {
  std::vector<RankOverlap> ranks;
  std::vector<LinkUse> links;  ///< by node
  Nanoseconds span = 0;        ///< from the beginning of the first run to the end of the last

  /// The time in which communication was under way and the rank computed, over the time in which it was under way; of
  /// all ranks together. 0 without communication.
  [[nodiscard]] double hidden_share() const noexcept;
  [[nodiscard]] RankOverlap sum() const noexcept;
};

/// Computes it; a pure function.
///
/// A message between two ranks is under way, for both of them, from when both have posted it until it has been
/// received. (A receive that is posted early moves nothing yet.) A request is under way from when it is posted until it
/// ends. What ranks of a node hand over in shared memory is computation: copying. A link is busy with a message from
/// when it is posted for sending until it has been received.
///
/// If one end of a message was lost, the other one counts as it is.
[[nodiscard]] Overlap overlap_of(const Trace& trace);

/// The share of a link that the busier direction achieved while it was busy; 0 if it never was or the rate is not
/// known.
[[nodiscard]] double achieved_share(const LinkUse& link, double bits_per_second) noexcept;

}  // namespace plait::report
