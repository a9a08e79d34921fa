#pragma once

#include <memory>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"
#include "plait/poisson/multigrid.hpp"

namespace plait::poisson {

/// Multigrid as a preconditioner of conjugate gradients where k jumps or the grid has holes: an approximation of A⁻¹
/// that is symmetric and positive definite for any k, by W-cycles on the first coarse grids, V-cycles below, and a
/// sweep of Gauss-Seidel before and after. It computes in floats where k spans no more than five
/// decades, else in doubles; grids and bits are as `Multigrid` has them. Points that are outside
/// take part with a k that is small, so that coarse points there serve those inside.
/// Collective over the context.
///
/// \param finest  its coefficient set; outlives this
/// \param least_points_per_rank  coarse levels go to fewer ranks, so that each has as many points
[[nodiscard]] std::unique_ptr<Preconditioner> black_box(mpi::Context& context, Level& finest,
                                                        Index least_points_per_rank);

}  // namespace plait::poisson
