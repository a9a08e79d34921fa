#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

/// Transport between two clouds of points, the costs of which are made when they are needed and never stored.
namespace plait::sinkhorn {

/// `transport` with the costs C(i, j) = metric(x(i), y(j)), in the logarithmic domain: besides the points a rank needs
/// memory for eight rows of the plan. Costs are as exact as the differences of coordinates.
///
/// The plan is P(i, j) = exp((f[i] + g[j] - C(i, j)) / epsilon). Where no first epsilon is given it is chosen by the
/// boxes that the points lie in.
///
/// Collective over `context`. For double and float.
///
/// \throws ArgumentError  on all ranks: as `transport`; points of different numbers of coordinates, not row-major, a
///                        coordinate that is not finite, boxes so far apart that costs leave the range of A, p < 1, or
///                        the domain `factors`, which stores the costs
template <class A>
[[nodiscard]] Transport<A> transport(mpi::Context& context, const PointClouds<A>& clouds, const Marginals& marginals,
                                     const TransportOptions& options, std::span<const A> start = {});

/// A rank's part of the plan, row by row: visit(i, P(i, :)). Local.
template <class A>
void for_each_plan_row(const PointClouds<A>& clouds, double epsilon, std::span<const A> f, std::span<const A> g,
                       const std::function<void(Index, std::span<const A>)>& visit);

/// The barycentric projection: where each point of x goes on the average,
///
///     map(i) = Σ_j P(i, j) y(j) / Σ_j P(i, j)
///
/// as rows × d, row by row. The potentials of the rows cancel, so that it is defined also for points without mass, and
/// for points that the plan was not made for. Local.
///
/// Source: Pooladian, Niles-Weed, "Entropic estimation of optimal transport maps", 2021.
template <class A>
[[nodiscard]] std::vector<A> barycentric_projection(const PointClouds<A>& clouds, double epsilon, std::span<const A> g);

}  // namespace plait::sinkhorn
