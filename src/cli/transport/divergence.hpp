#pragma once

#include "plait/mpi/context.hpp"

#include "cli/transport/divergence_options.hpp"

namespace plait::cli {

/// `plait divergence`. Collective over `context`; rank 0 prints.
void run_divergence(mpi::Context& context, const DivergenceOptions& options);

}  // namespace plait::cli
