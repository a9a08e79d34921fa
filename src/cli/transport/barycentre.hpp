#pragma once

#include "plait/mpi/context.hpp"

#include "cli/transport/barycentre_options.hpp"

namespace plait::cli {

/// `plait barycentre`. Collective over `context`; rank 0 prints.
void run_barycentre(mpi::Context& context, const BarycentreOptions& options);

}  // namespace plait::cli
