#pragma once

#include <span>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"
#include "plait/sinkhorn/marginals/first_failure.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

/// What is asked of points between which mass is transported. For double and float.
namespace plait::sinkhorn {

/// Checks points and options. Collective over `context`.
///
/// \return  no cost between two of the points is larger
/// \throws ArgumentError  on all ranks: as `transport` of points, but for what their masses have to be
template <class A>
[[nodiscard]] double checked_highest_cost(mpi::Context& context, const PointClouds<A>& clouds,
                                          const TransportOptions& options);

/// Fails for problems whose masses can be at no points. Collective over `context`.
template <class A>
void expect_points_for_each(mpi::Context& context, const PointClouds<A>& clouds,
                            std::span<const CheckedMarginals> masses, const Rho& rho, FirstFailure& failure);

}  // namespace plait::sinkhorn
