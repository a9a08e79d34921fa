#pragma once

#include <memory>

#include "plait/base/memory.hpp"
#include "plait/simd/sweep/distance_kernels.hpp"
#include "plait/simd/sweep/exponential_kernels.hpp"
#include "plait/simd/sweep/point_exponentials.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"

namespace plait::sinkhorn {

/// Costs between points, made for a few rows and columns at a time, which stay in the first-level cache. Exponentials
/// of squared distances are made of products, which takes half of the operations, where what cancels in
///
///     |x - y|² = |x - m|² - 2 (x - m) (y - m) + |y - m|²,  m the middle of y's box
///
/// is as small beside the precision as what potentials are rounded to.
template <class A>
class PointCosts final : public CostOperand<A> {
 public:
  PointCosts(const PointClouds<A>& clouds, int threads);

  void set_epsilon(double epsilon, std::size_t problems, std::size_t in_common = 1) override;
  [[nodiscard]] double cost_of(Index i, std::span<const A> plan) const override;

 private:
  using Base = CostOperand<A>;

  void exponentials(Index first, A factor, const A* f, const A* g, simd::RowBlock<A> e, A* sums) const override;
  [[nodiscard]] const A* prepared(std::size_t k, std::span<const A> g) override;
  void exponentials_after(const typename Base::Pending& before, Index first, A factor, const A* f, const A* g,
                          simd::RowBlock<A> e, A* sums) const override;
  /// What exponents have of `count` columns from the j-th on.
  void find_heights(Index j, Index count, const A* g, A* heights) const;
  /// Exponentials by products, of rows of one group of points and columns from the j-th on; their sums are added to
  /// those of the rows.
  void products(const simd::SumsBefore<A>& before, Index first, const A* f, Index j, const A* heights,
                simd::RowBlock<A> e, A* sums) const;
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
  Array<A> directions_x_, directions_y_;   // of the cosine's points
  Array<A> others_;                        // y in panels
  bool has_products_ = false;              // for the epsilon that was set last
  Array<A> groups_;                        // of these, x - m in groups, times 2 log2(e) / epsilon
  Array<A> panels_;                        // y - m in panels
  std::vector<A> of_rows_, of_columns_;    // their squares, times log2(e) / epsilon
  std::vector<AlignedVector<A>> heights_;  // of the columns, in a sweep; of each problem
  simd::PointExponentials<A>* of_points_ = simd::point_exponentials<A>();
  simd::DistanceKernels<A> distances_ = simd::distance_kernels<A>();
  simd::ExponentialKernels<A, A> exponential_ = simd::exponential_kernels<A, A>();
};

/// The costs between points: of a grid's nodes by its axes.
template <class A>
[[nodiscard]] std::unique_ptr<CostOperand<A>> point_costs(const PointClouds<A>& clouds, int threads);

}  // namespace plait::sinkhorn
