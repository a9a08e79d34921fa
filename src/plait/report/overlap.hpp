#pragma once

#include <array>
#include <span>
#include <vector>

#include "plait/base/counters.hpp"
#include "plait/base/timeline.hpp"
#include "plait/report/trace.hpp"

namespace plait::report {

/// The times from `begin` on and before `end`.
struct Interval {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// The times that lie in any of the intervals, as intervals that ascend and do not touch. Those that end before they
/// begin are empty.
[[nodiscard]] std::vector<Interval> united(std::vector<Interval> intervals);

/// The times that lie in both; each is as `united` gives it.
[[nodiscard]] std::vector<Interval> common(std::span<const Interval> a, std::span<const Interval> b);

[[nodiscard]] Nanoseconds length(std::span<const Interval> disjoint) noexcept;

/// A message that was sent and received, or the one end of it that was recorded.
struct Message {
  int from = -1;
  int to = -1;
  const TimedOperation* send = nullptr;
  const TimedOperation* receive = nullptr;

  /// From when both ends had posted it until it was received: a receive that is posted early moves nothing yet. Where
  /// an end was lost, what the other one knows.
  [[nodiscard]] Interval under_way() const noexcept;
  /// From when it was posted for sending until it was received: some of it may have been on the link.
  [[nodiscard]] Interval on_its_way() const noexcept;
};

/// The messages of a trace that ended at both ends, each end with its other one: those of a run and a position between
/// two ranks come in the same order at both. Empty ones, which stand for data that a failed rank did not send, are
/// among them. The trace outlives the result.
[[nodiscard]] std::vector<Message> messages_of(const Trace& trace);

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
