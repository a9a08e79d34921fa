#pragma once

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// The time in which `bytes` bytes pass a link in one direction: half of them from rank 0 to the first rank of another
/// node (the last rank, where there is one node only), then as many back, one message each; the others wait.
///
/// \pre  0 <= bytes < 2^32, and two ranks at least
[[nodiscard]] Contender ping_pong_limit(const mpi::Context& context, Index bytes);

}  // namespace plait::bench
