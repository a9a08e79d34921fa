#pragma once

#include <array>
#include <optional>
#include <vector>

#include "plait/base/memory.hpp"
#include "plait/simd/sweep/distance_kernels.hpp"
#include "plait/simd/sweep/exponential_kernels.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"

namespace plait::sinkhorn {

/// Costs between points, a block of rows at a time.
template <class A>
class PointCosts final : public CostOperand<A> {
 public:
  explicit PointCosts(const PointClouds<A>& clouds);

  void set_epsilon(double epsilon, Index together) override;
  void sweep(std::span<const LogVectors<A>> problems, const LogUpdate& update, std::span<RowsSwept> swept) override;
  void sweep_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                       std::span<double> log_sums) override;
  void column_maxima(std::span<const std::size_t> columns, std::span<const A> f, std::span<double> maxima) override;
  void column_sums(std::span<const std::size_t> columns, std::span<const A> f, std::span<const double> maxima,
                   std::span<double> sums) override;
  void for_each_row(std::span<const A> f, std::span<const A> g,
                    const std::function<void(const PlanRow<A>&)>& visit) override;
  void fill(matrix_view<A> kernel, std::span<A> f, std::span<const A> g) override;
  /// Every point may go to every other.
  [[nodiscard]] std::vector<CheckedMarginals> reachable(mpi::Context& context,
                                                        std::span<const CheckedMarginals> problems) override;
  [[nodiscard]] std::vector<Feasibility> feasibility(mpi::Context& /*context*/,
                                                     std::span<const RowHeights> problems) override {
    return std::vector<Feasibility>(problems.size());
  }

  /// Rows of exp(g - C / epsilon), each divided by its largest element.
  void for_each_weights(std::span<const A> g, const std::function<void(Index, std::span<const A>)>& visit);

 private:
  static constexpr Index block_rows = 8;

  /// Puts rows [first, first + count) of the costs into the block.
  void make(Index first, Index count);
  /// Calls f(first, the sweep over the block) for one block after the other.
  template <class F>
  void for_each_block(F&& f);
  /// Those of the rows of a block.
  [[nodiscard]] std::span<const LogVectors<A>> of_rows(std::span<const LogVectors<A>> problems, Index first,
                                                       Index count);
  [[nodiscard]] double cost(Index i, std::size_t j) const;

  PointClouds<A> clouds_;
  Index panels_;
  Array<A> others_;  // y in panels
  Array<A> block_;   // costs of block_rows rows of whole panels
  Array<A> weights_;
  std::vector<LogVectors<A>> in_block_;
  double epsilon_ = 0;
  std::optional<LogSweep<A, A>> sweep_;       // over a whole block
  std::optional<LogSweep<A, A>> last_sweep_;  // over the rows that are left
  simd::DistanceKernels<A> distances_ = simd::distance_kernels<A>();
  simd::ExponentialKernels<A, A> exponential_ = simd::exponential_kernels<A, A>();
};

}  // namespace plait::sinkhorn
