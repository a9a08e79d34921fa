#pragma once

#include "plait/io/file_kind.hpp"
#include "plait/mpi/context.hpp"

#include "cli/sinkhorn/sinkhorn_options.hpp"

namespace plait::cli {

/// Whether a matrix is scaled as a sparse one: it is in a Matrix Market file of the coordinate format, and the job is
/// one that there is for such matrices.
[[nodiscard]] bool stays_sparse(const SinkhornOptions& options, const io::MatrixFile& file);

/// `plait sinkhorn` of such a matrix. Collective over `context`; rank 0 prints.
void run_sparse_sinkhorn(mpi::Context& context, const SinkhornOptions& options, const io::MatrixFile& file);

}  // namespace plait::cli
