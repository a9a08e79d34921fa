#pragma once

#include <mpi.h>

#include <span>

#include "plait/collective/group.hpp"
#include "plait/mpi/context.hpp"

namespace plait::bench {

/// How many ranks of node 0 have one of equal place on node 1; 1 where there is one node.
[[nodiscard]] int pairs(const mpi::Context& context);

/// The pair that this rank is in: a rank of node 0, then the one of equal place on node 1. Ranks 0 and 1 where there is
/// one node. For ranks that are in no pair, the first one.
/// \pre  two ranks at least
[[nodiscard]] collective::Group pair(const mpi::Context& context);

/// From the first rank of the pair to the second one, as one message of MPI.
void send_blocking(const collective::Group& pair, std::span<double> data, MPI_Comm comm);

/// As that many non-blocking ones, nearly equal, all under way at once.
void send_in_parts(const collective::Group& pair, std::span<double> data, int parts, MPI_Comm comm);

/// An empty message back: the sender is not done before all has come, however late the receiver began to wait for it.
void acknowledge(const collective::Group& pair, MPI_Comm comm);

}  // namespace plait::bench
