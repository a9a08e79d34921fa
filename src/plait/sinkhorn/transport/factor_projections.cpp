#include <algorithm>
#include <cmath>

#include "plait/base/memory.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/sweep/batch_sweep.hpp"
#include "plait/sinkhorn/sweep/log_sweep.hpp"
#include "plait/sinkhorn/transport/bregman_projections.hpp"

namespace plait::sinkhorn {

namespace {

/// Rows of the stored exponentials are divided by their largest entries, exp(-shift).
class FactorProjections {
 public:
  FactorProjections(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans, const Limits& limits)
      : context_(context),
        plans_(plans),
        count_(plans.masses.size()),
        stride_(static_cast<std::size_t>(costs.columns())),
        course_(limits, roundoff_of<double>()) {
    const Index leading_dimension = std::max(Index{1}, costs.columns());
    const auto rows = static_cast<std::size_t>(costs.rows());
    mpi::agreed(context, [&] {
      if (const ScalingState* from = limits.checkpoints.from) expect_fewer(*from, limits.most_iterations);
      kernel_ = Array<double>(costs.rows() * leading_dimension);
      shift_.resize(rows);
      v_.assign(count_ * stride_, 1.0);
      if (limits.checkpoints.from != nullptr) v_ = limits.checkpoints.from->v;
      u_.assign(count_ * rows, 1.0);
      sums_.resize(count_ * stride_ + 1);
      of_block_.resize(count_);
      for (std::size_t k = 0; k < count_; ++k) {
        vectors_.push_back({v_.data() + k * stride_, u_.data() + k * rows, sums_.data() + k * stride_});
      }
    });
    matrix_ = {kernel_.data(), costs.rows(), costs.columns(), leading_dimension, StorageOrder::row_major};
    const auto zeros = mpi::agreed(context, [&] { return std::vector<double>(stride_); });
    costs.fill(matrix_, shift_, zeros);
  }

  [[nodiscard]] std::optional<Outcome> to_the_end() {
    SumOverRanks<double> sums_over_ranks(context_, static_cast<Index>(sums_.size()));
    while (!course_.is_at_limit()) {
      sweep();
      sums_over_ranks(sums_);
      const double error = error_now();
      if (sums_.back() > 0 || !std::isfinite(error)) return std::nullopt;
      course_.took(error);
      if (course_.is_over()) return ended();
      if (course_.is_at_limit()) break;
      if (!move_columns()) return std::nullopt;
      course_.keep([this] { return ScalingState{std::vector<double>(u_.size()), v_, {}}; });  // v gives u
    }
    course_.at_limit();
    return ended();
  }

 private:
  /// All plans get the same sums of rows: the weighted geometric mean of what they have.
  void sweep() {
    std::ranges::fill(sums_, 0.0);
    batch_sweep<double, double>(kernels_, matrix_, vectors_, of_block_,
                                [this](Index first, Index count, const std::vector<SumsOfBlock<double>>& of_block) {
                                  for (Index n = 0; n < count; ++n) {
                                    move_row(first + n, static_cast<std::size_t>(n), of_block);
                                  }
                                });
  }

  void move_row(Index i, std::size_t in_block, const std::vector<SumsOfBlock<double>>& of_block) {
    const auto row = static_cast<std::size_t>(i);
    double logarithm = 0;
    bool is_reached = true;
    bool is_sound = true;
    for (std::size_t k = 0; k < count_; ++k) {
      const double sum = of_block[k][in_block];
      is_reached = is_reached && sum > 0;
      is_sound = is_sound && (sum == 0 || sum >= lowest_sum<double>);  // smaller ones may have lost digits
      logarithm += plans_.weights[k] * std::log(sum);
    }
    // What one histogram does not reach has no mass.
    const double mass = is_reached ? std::exp(logarithm - shift_[row]) : 0;
    plans_.barycentre[row] = mass;
    is_sound = is_sound && (mass > 0 || !is_reached);
    for (std::size_t k = 0; k < count_; ++k) {
      double& u = vectors_[k].u[i];
      u = is_reached ? mass / of_block[k][in_block] : 0;
      is_sound = is_sound && (u > 0 || !is_reached) && std::isfinite(u);
    }
    if (!is_sound) sums_.back() += 1;
  }

  [[nodiscard]] double error_now() const {
    double error = 0;
    double total = 0;
    for (std::size_t k = 0; k < count_; ++k) {
      double distance = 0;
      for (std::size_t j = 0; j < stride_; ++j) {
        const std::size_t n = k * stride_ + j;
        distance += std::abs(v_[n] * sums_[n] - plans_.masses[k][j]);
        total += plans_.weights[k] * plans_.masses[k][j];
      }
      error += plans_.weights[k] * distance;
    }
    return total > 0 ? error / total : error;
  }

  [[nodiscard]] bool move_columns() {
    for (std::size_t k = 0; k < count_; ++k) {
      for (std::size_t j = 0; j < stride_; ++j) {
        const std::size_t n = k * stride_ + j;
        const double mass = plans_.masses[k][j];
        v_[n] = mass == 0 ? 0 : mass / sums_[n];
        if (mass > 0 && (!(sums_[n] >= lowest_sum<double>) || !(v_[n] > 0) || !std::isfinite(v_[n]))) return false;
      }
    }
    return true;
  }

  [[nodiscard]] Outcome ended() {
    for (std::size_t k = 0; k < count_; ++k) {
      for (std::size_t i = 0; i < shift_.size(); ++i) {
        plans_.f[k][i] = shift_[i] + std::log(u_[k * shift_.size() + i]);
      }
      for (std::size_t j = 0; j < stride_; ++j) plans_.g[k][j] = std::log(v_[k * stride_ + j]);
    }
    return course_.outcome();
  }

  mpi::Context& context_;
  BarycentrePlans& plans_;
  std::size_t count_;
  std::size_t stride_;  // columns
  Course course_;
  Array<double> kernel_;
  matrix_view<double> matrix_;
  simd::ScalingKernels<double, double> kernels_ = simd::scaling_kernels<double, double>();
  std::vector<double> shift_;
  std::vector<double> v_;  // of all histograms, one behind the other; likewise:
  std::vector<double> u_;
  std::vector<double> sums_;  // and, behind them, how many numbers left their range
  std::vector<BatchVectors<double>> vectors_;
  std::vector<SumsOfBlock<double>> of_block_;
};

}  // namespace

std::optional<Outcome> project_by_factors(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans,
                                          const Limits& limits) {
  return FactorProjections(context, costs, plans, limits).to_the_end();
}

}  // namespace plait::sinkhorn
