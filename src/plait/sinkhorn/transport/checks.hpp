#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

/// What is asked of the options, masses and points of a transport. For double and float.
namespace plait::sinkhorn {

/// \throws ArgumentError  an epsilon that is not positive and finite, or a first one below it; limits below 0; a rho
///                        that is not positive, or so large or small beside epsilon that nothing is relaxed by it, or
///                        all
/// Adds to `arguments` what all ranks have to give alike.
void expect_suitable(const TransportOptions& options, mpi::Alike& arguments);

/// What the totals of masses have to be.
[[nodiscard]] inline Totals totals_of(const Rho& rho) { return rho.is_balanced() ? Totals::equal : Totals::any; }

/// The masses that plans must have: 0 for those that may be missed.
[[nodiscard]] std::vector<CheckedMarginals> required_masses(mpi::Context& context,
                                                            std::span<const CheckedMarginals> masses, const Rho& rho);

/// Checks points and options. Collective over `context`.
///
/// \return  no cost between two of the points is larger
/// \throws ArgumentError  on all ranks: as `transport` of points, but for what their masses have to be
template <class A>
[[nodiscard]] double checked_highest_cost(mpi::Context& context, const PointClouds<A>& clouds,
                                          const TransportOptions& options);

}  // namespace plait::sinkhorn
