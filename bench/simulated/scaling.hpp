#pragma once

#include <functional>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/coffee/scale_in_place.hpp"

namespace plait::bench {

/// An iteration of Sinkhorn and Knopp's on the rows of an n × n matrix of doubles, dealt to ranks of a node each, as
/// `sinkhorn::scale_in_place` makes it. Passes over the matrix take the time of the bytes that they move, the exchange
/// of sums that of its messages, and nothing else takes any.
struct SimulatedScaling {
  Index n;
  bool fuses;  // one pass that reads and writes, or Algorithm 3's two
  sinkhorn::SumWay way;
  bool overlaps;  // the second pass with the exchange
  double seconds_per_byte;
  double operations_per_second;  // of the platform's hosts
};

/// What a rank does once. Collective over the context, which outlives it.
/// \throws ArgumentError  passes that can't overlap
[[nodiscard]] std::function<void()> prepare(mpi::Context& context, const SimulatedScaling& scaling);

}  // namespace plait::bench
