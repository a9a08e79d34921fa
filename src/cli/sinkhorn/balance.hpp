#pragma once

#include "plait/mpi/context.hpp"

#include "cli/sinkhorn/balance_options.hpp"

namespace plait::cli {

/// `plait balance`. Collective over `context`; rank 0 prints.
void run_balance(mpi::Context& context, const BalanceOptions& options);

}  // namespace plait::cli
