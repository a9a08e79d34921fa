#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/sweep/log_sweep.hpp"

namespace plait::sinkhorn {

/// A row of a plan.
template <class A>
struct PlanRow {
  Index row = 0;            // of this rank's
  std::span<const A> plan;  // until the next row
  double cost = 0;          // Σ_j C P
};

/// A rank's rows of costs as `transport` reads them: stored, or made when they are needed. Potentials are in units of
/// the epsilon that was set last. Local, but for the last two.
template <class A>
class CostOperand {
 public:
  CostOperand(Index rows, Index columns) : rows_(rows), columns_(columns) {}
  virtual ~CostOperand() = default;

  [[nodiscard]] Index rows() const noexcept { return rows_; }
  [[nodiscard]] Index columns() const noexcept { return columns_; }

  /// To be called before all others.
  /// \param together  the most problems of which rows are to have sums in common
  virtual void set_epsilon(double epsilon, Index together) = 0;

  /// See `LogSweep::rows`, `rows_in_common`, `column_maxima` and `column_sums`.
  virtual void sweep(std::span<const LogVectors<A>> problems, const LogUpdate& update, std::span<RowsSwept> swept) = 0;
  virtual void sweep_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                               std::span<double> log_sums) = 0;
  virtual void column_maxima(std::span<const std::size_t> columns, std::span<const A> f, std::span<double> maxima) = 0;
  virtual void column_sums(std::span<const std::size_t> columns, std::span<const A> f, std::span<const double> maxima,
                           std::span<double> sums) = 0;

  /// exp(f + g - C / epsilon), row by row.
  virtual void for_each_row(std::span<const A> f, std::span<const A> g,
                            const std::function<void(const PlanRow<A>&)>& visit) = 0;

  /// kernel ← exp(f + g - C / epsilon) with the f that makes the largest entry of each row 1.
  virtual void fill(matrix_view<A> kernel, std::span<A> f, std::span<const A> g) = 0;

  /// See `sinkhorn::reachable`; where sums must not be missed, too. Collective.
  [[nodiscard]] virtual std::vector<CheckedMarginals> reachable(mpi::Context& context,
                                                                std::span<const CheckedMarginals> problems) = 0;

  /// See `sinkhorn::feasibility`. Collective.
  [[nodiscard]] virtual std::vector<Feasibility> feasibility(mpi::Context& context,
                                                             std::span<const RowHeights> problems) = 0;

 private:
  Index rows_;
  Index columns_;
};

}  // namespace plait::sinkhorn
