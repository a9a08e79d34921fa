#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"

namespace plait::sinkhorn {

/// Beside the sums of the columns: what rows are to sum up to, and how many have no factor.
inline constexpr Index scaling_riders = 2;

/// How a run ends whose sums are no numbers.
template <class A>
[[nodiscard]] Method::Ending sums_out_of_range(Index iteration);

/// How a matrix is scaled, in what form it may be.
struct ScalingTask {
  /// Whether there is proof that marginals can't be had: see `feasibility`. Collective; empty: nothing is asked.
  std::function<std::vector<Feasibility>(std::span<const RowHeights>)> prove;
  std::function<std::string()> at_limit;  // see `Method`; may be empty
};

/// Any iteration, with sums over all ranks.
template <class A>
class ScalingMethod final : public Method {
 public:
  /// \param sum_over_ranks  of the sums of one problem, and `scaling_riders`
  ScalingMethod(mpi::Context& context, std::span<const CheckedMarginals> problems, Iteration<A>& iteration,
                ScalingTask task, SumUp<A> sum_over_ranks = {});

  void rows(std::span<const std::size_t> problems, std::span<Found> found) override;
  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> problems) override;
  [[nodiscard]] std::optional<Iterate> iterate(std::size_t problem) override { return iteration_.iterate(problem); }
  void find_slopes(std::size_t problem, std::span<double> slopes) override {
    iteration_.find_slopes(problem, sums_.of(slots_[problem]).first(columns_), slopes);
  }
  [[nodiscard]] std::vector<Feasibility> look_for_proof(std::span<const std::size_t> problems) override;
  [[nodiscard]] Ending out_of_range(std::size_t problem, Index iteration) const override;
  [[nodiscard]] std::string at_limit() const override { return task_.at_limit ? task_.at_limit() : std::string(); }
  void save(iterate::Checkpoint& checkpoint) const override;
  void resume(const iterate::Checkpoint& checkpoint) override;

 private:
  [[nodiscard]] std::span<A> sums_of(std::size_t problem) { return sums_.of(slots_[problem]).first(columns_); }

  mpi::Context& context_;
  Iteration<A>& iteration_;
  ScalingTask task_;
  std::size_t columns_;
  BatchSums<A> sums_;
  std::vector<std::size_t> slots_;  // of each problem that takes part
  std::vector<ColumnsOf<A>> where_;
};

}  // namespace plait::sinkhorn
