#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"

namespace plait::sinkhorn {

/// The costs between points, made a few rows and columns at a time; of a grid's nodes `grid_costs`.
template <class A>
[[nodiscard]] std::unique_ptr<CostOperand<A>> point_costs(const PointClouds<A>& clouds, int threads);

/// The costs between nodes of a grid, which are sums over its axes, by passes along each of these.
///
/// \pre  clouds.grid; clouds.norm().is_sum(its dimensions)
template <class A>
[[nodiscard]] std::unique_ptr<CostOperand<A>> grid_costs(const PointClouds<A>& clouds, int threads);

/// Where each of this rank's nodes goes on the average, as rows × dimensions: see `barycentric_projection`.
///
/// \pre  as `grid_costs`
template <class A>
[[nodiscard]] std::vector<A> mean_places(const PointClouds<A>& clouds, double epsilon, std::span<const A> g,
                                         int threads);

}  // namespace plait::sinkhorn
