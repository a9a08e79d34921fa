#pragma once

#include <memory>

#include "plait/base/memory.hpp"
#include "plait/simd/sweep/distance_kernels.hpp"
#include "plait/simd/sweep/exponential_kernels.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"

namespace plait::sinkhorn {

/// Costs between points, made for a few rows and columns at a time, which stay in the first-level cache.
template <class A>
class PointCosts final : public CostOperand<A> {
 public:
  PointCosts(const PointClouds<A>& clouds, int threads);

  [[nodiscard]] double cost_of(Index i, std::span<const A> plan) const override;

 private:
  void exponentials(Index first, A factor, const A* f, const A* g, simd::RowBlock<A> e, A* sums) const override;
  [[nodiscard]] A maximum(Index i, A factor, const A* g) const override;
  [[nodiscard]] double cost(Index i, std::size_t j) const override;

  /// Fills a tile; returns to which power its numbers are costs.
  [[nodiscard]] double distances(const simd::RowBlock<const A>& points, const A* others, Index panels,
                                 const simd::RowBlock<A>& tile) const;
  /// Calls f(costs, j) for tiles of the costs of rows [first, first + count), whose first column is j.
  template <class F>
  void for_each_tile(Index first, Index count, const F& f) const;

  /// Takes the place of points by others on a sphere, whose squared distances are those of the cosine.
  void project(matrix_view<const A>& points, Array<A>& onto);

  PointClouds<A> clouds_;
  Norm norm_;
  Array<A> directions_x_, directions_y_;  // of the cosine's points
  Array<A> others_;                       // y in panels
  simd::DistanceKernels<A> distances_ = simd::distance_kernels<A>();
  simd::ExponentialKernels<A, A> exponential_ = simd::exponential_kernels<A, A>();
};

/// The costs between points: of a grid's nodes by its axes.
template <class A>
[[nodiscard]] std::unique_ptr<CostOperand<A>> point_costs(const PointClouds<A>& clouds, int threads);

}  // namespace plait::sinkhorn
