#pragma once

#include "plait/mpi/context.hpp"

#include "cli/transport/transport_options.hpp"

namespace plait::cli {

/// `plait transport --points`. Collective over `context`; rank 0 prints.
void transport_points(mpi::Context& context, const TransportJobOptions& options);

}  // namespace plait::cli
