#pragma once

#include "plait/simd/sweep/exponential_kernels.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"

namespace plait::sinkhorn {

/// Costs that lie in memory, row-major.
template <class T, class A>
class StoredCosts final : public CostOperand<A> {
 public:
  StoredCosts(matrix_view<const T> costs, int threads)
      : CostOperand<A>(costs.rows(), costs.columns(), threads), costs_(costs) {}

  [[nodiscard]] std::vector<CheckedMarginals> reachable(mpi::Context& context,
                                                        std::span<const CheckedMarginals> problems) override {
    return sinkhorn::reachable<T>(context, costs_, problems);
  }
  [[nodiscard]] std::vector<Feasibility> feasibility(mpi::Context& context,
                                                     std::span<const RowHeights> problems) override {
    return sinkhorn::feasibility<T>(context, costs_, Support::finite, problems);
  }
  [[nodiscard]] double cost_of(Index i, std::span<const A> plan) const override {
    const T* row = block(i, 1).data;
    double cost = 0;
    for (std::size_t j = 0; j < plan.size(); ++j) {
      if (plan[j] != 0) cost += static_cast<double>(row[j]) * static_cast<double>(plan[j]);
    }
    return cost;
  }

 private:
  void exponentials(Index first, A factor, const A* f, const A* g, simd::RowBlock<A> e, A* sums) const override {
    exponential_.exponential_sums(block(first, e.rows), factor, f, g, e, sums);
  }
  [[nodiscard]] A maximum(Index i, A factor, const A* g) const override {
    A maximum{};
    exponential_.row_maxima(block(i, 1), factor, g, &maximum);
    return maximum;
  }
  [[nodiscard]] double cost(Index i, std::size_t j) const override { return static_cast<double>(block(i, 1).data[j]); }
  [[nodiscard]] simd::RowBlock<const T> block(Index first, Index count) const {
    return {costs_.data() + first * costs_.leading_dimension(), count, costs_.columns(), costs_.leading_dimension()};
  }

  matrix_view<const T> costs_;
  simd::ExponentialKernels<T, A> exponential_ = simd::exponential_kernels<T, A>();
};

}  // namespace plait::sinkhorn
