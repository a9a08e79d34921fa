#pragma once

#include "plait/io/file_kind.hpp"
#include "plait/mpi/context.hpp"

#include "cli/sinkhorn/balance_options.hpp"

namespace plait::cli {

/// `plait balance` of a matrix that stays sparse (see sparse_header). Collective over `context`; rank 0 prints.
void run_sparse_balance(mpi::Context& context, const BalanceOptions& options, const io::MatrixFile& file);

}  // namespace plait::cli
