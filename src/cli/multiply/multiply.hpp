#pragma once

#include "plait/mpi/context.hpp"

#include "cli/multiply/multiply_options.hpp"

namespace plait::cli {

/// `plait multiply`. Collective over `context`; rank 0 prints.
void run_multiply(mpi::Context& context, const MultiplyOptions& options);

}  // namespace plait::cli
