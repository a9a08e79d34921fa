#pragma once

#include "plait/io/file_kind.hpp"
#include "plait/mpi/context.hpp"

#include "cli/scaling/marginal_batch.hpp"
#include "cli/sinkhorn/sinkhorn_options.hpp"

namespace plait::cli {

/// `plait sinkhorn` of several marginals, which share a read of the matrix in each iteration. Collective over
/// `context`; rank 0 prints.
void run_sinkhorn_batch(mpi::Context& context, const SinkhornOptions& options, const MarginalFiles& marginals);

}  // namespace plait::cli
