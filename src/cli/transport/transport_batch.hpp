#pragma once

#include "plait/mpi/context.hpp"

#include "cli/scaling/marginal_batch.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/transport/point_files.hpp"
#include "cli/transport/transport_options.hpp"

namespace plait::cli {

/// `plait transport` of several pairs of masses with the same costs; the job was prepared. Collective over `context`;
/// rank 0 prints.
void run_transport_batch(mpi::Context& context, const TransportJobOptions& options, const ScaledJob& job,
                         const MarginalFiles& marginals);

/// The same between two clouds of points.
void run_points_batch(mpi::Context& context, const TransportJobOptions& options, const PointsJob& job,
                      const MarginalFiles& marginals);

}  // namespace plait::cli
