#pragma once

#include "plait/mpi/context.hpp"

#include "cli/transport/transport_options.hpp"

namespace plait::cli {

/// `plait transport` of several pairs of masses with the same costs. Collective over `context`; rank 0 prints.
void run_transport_batch(mpi::Context& context, const TransportJobOptions& options, Index problems);

}  // namespace plait::cli
