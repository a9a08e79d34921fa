#pragma once

#include "plait/mpi/context.hpp"

#include "cli/sinkhorn/sinkhorn_options.hpp"

namespace plait::cli {

/// `plait sinkhorn`. Collective over `context`; rank 0 prints.
void run_sinkhorn(mpi::Context& context, const SinkhornOptions& options);

}  // namespace plait::cli
