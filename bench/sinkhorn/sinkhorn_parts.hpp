#pragma once

#include <vector>

#include "plait/mpi/context.hpp"

#include "bench/harness/benchmark.hpp"

namespace plait::bench {

/// The rescaling of rows, and of columns, each by itself, by the algorithms one after the other; and iterations of
/// matrices of which many entries are 0. Each by one rank.
///
/// Source: COFFEE, Fig. 1 for rows and columns, Fig. 12 for the columns of all algorithms, Fig. 8 for densities.
[[nodiscard]] std::vector<Case> sinkhorn_part_cases(mpi::Context& context, bool quick);

}  // namespace plait::bench
