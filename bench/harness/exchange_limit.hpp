#pragma once

#include <mpi.h>

#include "plait/base/index.hpp"

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// Sending and receiving as fast as the links let a rank do both at once: every rank sends `bytes` to the next one and
/// receives as many from the one before, as one message. With a node for each rank no exchange in which one of them
/// sends or receives `bytes` can take less time.
///
/// \pre  0 <= bytes < 2^31, the same on all ranks
[[nodiscard]] Contender exchange_limit(MPI_Comm comm, Index bytes);

}  // namespace plait::bench
