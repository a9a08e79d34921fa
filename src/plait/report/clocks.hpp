#pragma once

#include <functional>
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

}  // namespace plait::report
