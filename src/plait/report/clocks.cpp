#include "plait/report/clocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "plait/mpi/message.hpp"

namespace plait::report {

namespace {

constexpr int clock_tag = 1;  // of plait's control messages
constexpr int round_trips = 40;

}  // namespace

ClockSample compare_clocks(const mpi::Communicator& comm, int here, int there, const Clock& clock) {
  std::array<Nanoseconds, 1> theirs{};
  const std::span<Nanoseconds> message(theirs);
  if (comm.rank() == there) {
    for (int trip = 0; trip < round_trips; ++trip) {
      mpi::receive(comm, message, here, clock_tag);
      theirs[0] = clock();
      mpi::send(comm, std::span<const Nanoseconds>(message), here, clock_tag);
    }
    return {};
  }
  Nanoseconds lowest = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds highest = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds end = 0;
  for (int trip = 0; trip < round_trips; ++trip) {
    const Nanoseconds begin = clock();
    mpi::send(comm, std::span<const Nanoseconds>(message), there, clock_tag);
    mpi::receive(comm, message, there, clock_tag);
    end = clock();
    lowest = std::max(lowest, theirs[0] - end);
    highest = std::min(highest, theirs[0] - begin);
  }
  return {end, lowest + (highest - lowest) / 2, std::abs(highest - lowest) / 2 + 1};  // 1 for what a division cuts off
}

std::vector<ClockSample> compare_node_clocks(const mpi::Context& context) {
  const mpi::NodeTopology& topology = context.topology();
  std::vector<ClockSample> samples;
  if (context.rank() == 0) samples.push_back({steady_nanoseconds(), 0, 0});
  for (int rank = 1; rank < context.size(); ++rank) {
    if (topology.node_rank_of(rank) != 0 || (context.rank() != 0 && context.rank() != rank)) continue;
    const ClockSample sample = compare_clocks(context.comm(), 0, rank, steady_nanoseconds);
    if (context.rank() == 0) samples.push_back(sample);
  }
  return samples;
}

Nanoseconds on_own_clock(Nanoseconds there, const ClockSample& before, const ClockSample& after) {
  const Nanoseconds roughly = there - before.ahead;
  if (after.at == before.at) return roughly;
  const double share = static_cast<double>(roughly - before.at) / static_cast<double>(after.at - before.at);
  return roughly - std::llround(share * static_cast<double>(after.ahead - before.ahead));
}

}  // namespace plait::report
