#pragma once

#include "plait/mpi/context.hpp"

#include "cli/redistribute/redistribute_options.hpp"

namespace plait::cli {

/// `plait redistribute`. Collective over `context`; rank 0 prints.
void run_redistribute(mpi::Context& context, const RedistributeOptions& options);

}  // namespace plait::cli
