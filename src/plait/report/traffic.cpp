#include "plait/report/traffic.hpp"

#include <algorithm>

#include "plait/mpi/collectives.hpp"

namespace plait::report {

TrafficSummary gather_traffic(const mpi::Context& context, std::string_view label) {
  const auto entry = context.counters().find(label);
  const TrafficCounters own = entry == context.counters().end() ? TrafficCounters{} : entry->second;

  std::array<Index, 6> sums{};
  Index sent = 0;
  Index received = 0;
  for (const PeerClass peer : peer_classes) {
    const auto c = static_cast<std::size_t>(peer);
    sums[2 * c] = own.sent[c].messages;
    sums[2 * c + 1] = own.sent[c].bytes;
    if (peer == PeerClass::self) continue;
    sent += own.sent[c].bytes;
    received += own.received[c].bytes;
  }
  mpi::all_reduce(context.comm(), sums, mpi::Operation::sum());

  TrafficSummary summary;
  for (std::size_t c = 0; c < 3; ++c) summary.total[c] = {sums[2 * c], sums[2 * c + 1]};
  summary.largest_rank_bytes = mpi::all_reduce(context.comm(), std::max(sent, received), mpi::Operation::maximum());
  return summary;
}

}  // namespace plait::report
