#pragma once

#include <vector>

#include "plait/mpi/context.hpp"

#include "bench/harness/benchmark.hpp"

namespace plait::bench {

/// One iteration between nodes: Algorithm 3 by the exchanges of the literature, and plait's own ways, on matrices of
/// which each rank has many columns or few.
///
/// Source: COFFEE, Figs. 13, 14 and 16.
[[nodiscard]] std::vector<Case> sinkhorn_network_cases(mpi::Context& context, bool quick);

}  // namespace plait::bench
