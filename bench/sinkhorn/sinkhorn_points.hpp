#pragma once

#include <vector>

#include "plait/mpi/context.hpp"

#include "bench/harness/benchmark.hpp"

namespace plait::bench {

/// Sweeps over the costs between points, which are made on the way, by one rank with one thread: against as many
/// exponentials in the first-level cache; of many coordinates, against the BLAS's product of the coordinates. Those of
/// floats have those of doubles as their peer.
[[nodiscard]] std::vector<Case> sinkhorn_point_cases(mpi::Context& context, bool quick);

}  // namespace plait::bench
