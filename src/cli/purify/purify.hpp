#pragma once

#include "plait/mpi/context.hpp"

#include "cli/purify/purify_options.hpp"

namespace plait::cli {

/// `plait purify`. Collective over `context`; rank 0 prints.
void run_purify(mpi::Context& context, const PurifyOptions& options);

}  // namespace plait::cli
