#pragma once

#include <string_view>

#include "plait/base/counters.hpp"
#include "plait/mpi/context.hpp"

namespace plait::report {

/// What one operation moved, on all ranks together. What travels between two ranks is counted once, as sent.
struct TrafficSummary {
  std::array<Traffic, 3> total{};  ///< by class of peer
  Index largest_rank_bytes = 0;    ///< of the rank that sends or receives most, its own moves left out

  [[nodiscard]] const Traffic& of(PeerClass peer) const noexcept { return total[static_cast<std::size_t>(peer)]; }
};

/// The summary of the operation with this label since the counters were cleared. Collective over the context.
[[nodiscard]] TrafficSummary gather_traffic(const mpi::Context& context, std::string_view label);

}  // namespace plait::report
