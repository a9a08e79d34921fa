#pragma once

#include "plait/collective/group.hpp"
#include "plait/mpi/context.hpp"

namespace plait::bench {

/// The ranks that are the `place`-th of their nodes.
/// \pre  there is one
[[nodiscard]] collective::Group column(const mpi::Context& context, int place);

/// How many ranks each node has, so that all are in a column with one rank of every node; 0 where nodes have different
/// numbers of ranks, or there is one node.
[[nodiscard]] int columns(const mpi::Context& context);

}  // namespace plait::bench
