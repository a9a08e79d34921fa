#pragma once

#include <optional>

#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/reach.hpp"

namespace plait::sinkhorn {

/// Costs that lie in memory, row-major.
template <class T, class A>
class StoredCosts final : public CostOperand<A> {
 public:
  explicit StoredCosts(matrix_view<const T> costs) : CostOperand<A>(costs.rows(), costs.columns()), costs_(costs) {}

  void set_epsilon(double epsilon, Index together) override;
  void sweep(std::span<const LogVectors<A>> problems, const LogUpdate& update, std::span<RowsSwept> swept) override {
    sweep_->rows(problems, update, swept);
  }
  void sweep_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                       std::span<double> log_sums) override {
    sweep_->rows_in_common(problems, weights, log_sums);
  }
  void column_maxima(std::span<const std::size_t> columns, std::span<const A> f, std::span<double> maxima) override {
    sweep_->column_maxima(columns, f, maxima);
  }
  void column_sums(std::span<const std::size_t> columns, std::span<const A> f, std::span<const double> maxima,
                   std::span<double> sums) override {
    sweep_->column_sums(columns, f, maxima, sums);
  }
  void for_each_row(std::span<const A> f, std::span<const A> g,
                    const std::function<void(const PlanRow<A>&)>& visit) override;
  void fill(matrix_view<A> kernel, std::span<A> f, std::span<const A> g) override;
  [[nodiscard]] std::vector<CheckedMarginals> reachable(mpi::Context& context,
                                                        std::span<const CheckedMarginals> problems) override {
    return sinkhorn::reachable<T>(context, costs_, problems);
  }
  [[nodiscard]] std::vector<Feasibility> feasibility(mpi::Context& context,
                                                     std::span<const RowHeights> problems) override {
    return sinkhorn::feasibility<T>(context, costs_, Support::finite, problems);
  }

 private:
  matrix_view<const T> costs_;
  double epsilon_ = 0;
  std::optional<LogSweep<T, A>> sweep_;
};

}  // namespace plait::sinkhorn
