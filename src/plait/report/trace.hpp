#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "plait/base/timeline.hpp"
#include "plait/mpi/context.hpp"

namespace plait::report {

/// How far another clock is ahead of this rank's, as seen at one moment.
struct ClockSample {
  Nanoseconds at = 0;  ///< that moment, on this rank's clock
  Nanoseconds ahead = 0;
  Nanoseconds error = 0;  ///< the true value is at most this far away
  friend bool operator==(const ClockSample&, const ClockSample&) = default;
};

using Clock = std::function<Nanoseconds()>;

/// Compares the clocks of two ranks by messages there and back: when `there`'s clock was read, `here`'s lay between the
/// sending and the receiving. Of many tries, the quickest way there and the quickest way back tell best. Called by both
/// ranks, with the clock of each; other ranks have no part in it.
///
/// \return  on `here`, how far `there`'s clock is ahead
[[nodiscard]] ClockSample compare_clocks(const mpi::Communicator& comm, int here, int there, const Clock& clock);

/// The steady clocks of all nodes against that of rank 0, at one moment. The ranks of a node have one clock.
///
/// Collective over the context; the lowest rank of each node exchanges some messages with rank 0, in turn.
/// \return  on rank 0, an entry for each node; nothing elsewhere
[[nodiscard]] std::vector<ClockSample> compare_node_clocks(const mpi::Context& context);

/// The same moment on the first clock, given one on the other: what lies between two samples is taken to drift
/// steadily.
[[nodiscard]] Nanoseconds on_own_clock(Nanoseconds there, const ClockSample& before, const ClockSample& after);

/// What one rank did, with all times on the clock of rank 0.
struct RankTrace {
  int node = 0;
  Recording recording;
  friend bool operator==(const RankTrace&, const RankTrace&) = default;
};

/// What the schedules of all ranks did and when. Time 0 is the beginning of the first run.
struct Trace {
  std::vector<RankTrace> ranks;
  Nanoseconds clock_error = 0;      ///< times of different nodes are that exact, if the clocks drift steadily
  double link_bits_per_second = 0;  ///< of a node's link to the others, in each direction; 0 if it is not known
  Nanoseconds origin = 0;           ///< time 0 on the steady clock of rank 0; 0 in a trace that comes from a file
  friend bool operator==(const Trace&, const Trace&) = default;
};

/// The runs that rank 0 began from `begin` on and before `end`, two times on its steady clock, with what all other
/// ranks did in these runs. Time 0 is again the beginning of the first one. A pure function; what was lost stays
/// counted.
[[nodiscard]] Trace part_of(const Trace& trace, Nanoseconds begin, Nanoseconds end);

/// Records all runs of schedules on a context, from its construction to `gather`, for a picture of what overlapped:
///
///     report::Tracing tracing(context);
///     work(context);
///     const report::Trace trace = tracing.gather();
///     if (context.rank() == 0) file << report::chrome_json(trace);
///
/// Recording costs about 0.1 us an operation, allocates now and then, and never fails a run: what
/// there is no memory for is left out, and counted. One at a time on a context, which outlives it.
class Tracing {
 public:
  /// Collective over the context, between runs.
  /// \param most_bytes  that a rank may take to record, about; it takes what it needs
  /// \throws ArgumentError  on all ranks, where a run is under way that another Tracing records
  explicit Tracing(mpi::Context& context, Index most_bytes = Timeline::default_bytes);
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
  /// Records no further runs.
  ~Tracing() { context_.timeline().stop(); }

  /// Ends recording, and brings it together on rank 0; other ranks get an empty trace. Collective over the context,
  /// between runs. The clocks of the nodes are compared now and at the beginning, so that steady drift is taken out.
  /// \throws ArgumentError  on all ranks, where a recorded run is under way
  /// \throws OutOfMemory    on all ranks
  [[nodiscard]] Trace gather();

 private:
  mpi::Context& context_;
  std::vector<ClockSample> clocks_at_begin_;  // on rank 0
};

/// A recording as bytes that travel between equal machines, and back.
[[nodiscard]] std::vector<std::byte> bytes_of(const Recording& recording);
[[nodiscard]] Recording recording_of(std::span<const std::byte> bytes);

}  // namespace plait::report
