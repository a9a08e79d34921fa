#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "plait/base/memory.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/sweep/slabs.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"
#include "plait/sinkhorn/transport/bregman_projections.hpp"
#include "plait/sinkhorn/transport/stages.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

namespace {

/// Several histograms are one problem: their plans have the sums of rows in common.
const CheckedMarginals& one_problem() {
  static const CheckedMarginals problem = [] {
    CheckedMarginals made;
    made.are_uniform = false;
    return made;
  }();
  return problem;
}

/// What the plans' sums of columns are off by, in the weighted mean.
double error_of(const BarycentrePlans& plans, const auto& sum_of) {
  double error = 0;
  double total = 0;
  for (std::size_t k = 0; k < plans.masses.size(); ++k) {
    double distance = 0;
    double mass = 0;
    for (std::size_t j = 0; j < plans.masses[k].size(); ++j) {
      distance += std::abs(sum_of(k, j) - plans.masses[k][j]);
      mass += plans.masses[k][j];
    }
    error += plans.weights[k] * distance;
    total += plans.weights[k] * mass;
  }
  return total > 0 ? error / total : error;
}

/// Rows of the stored exponentials are divided by their largest entries, exp(-shift).
class FactorProjections final : public Method {
 public:
  FactorProjections(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans)
      : Method({&one_problem(), 1}),
        plans_(plans),
        count_(plans.masses.size()),
        stride_(static_cast<std::size_t>(costs.columns())),
        sums_over_ranks_(context, static_cast<Index>(count_ * stride_ + 1)),
        slabs_(mpi::agreed(context, [&] { return costs.slabs(static_cast<Index>(count_ * stride_ + 1)); })) {
    const Index leading_dimension = std::max(Index{1}, costs.columns());
    const auto rows = static_cast<std::size_t>(costs.rows());
    std::vector<double> zeros;
    mpi::agreed(context, [&] {
      kernel_ = Array<double>(costs.rows() * leading_dimension);
      shift_.resize(rows);
      zeros.resize(stride_);
      v_.assign(count_ * stride_, 1.0);
      u_.assign(count_ * rows, 1.0);
      sums_.resize(count_ * stride_ + 1);
      of_block_.resize(static_cast<std::size_t>(slabs_.threads()) * count_);
    });
    matrix_ = {kernel_.data(), costs.rows(), costs.columns(), leading_dimension, StorageOrder::row_major};
    costs.fill(matrix_, shift_, zeros);
  }

  /// All plans get the same sums of rows: the weighted geometric mean of what they have.
  void rows(std::span<const std::size_t> /*problems*/, std::span<Found> found) override {
    std::ranges::fill(sums_, 0.0);
    RowsSwept none;
    slabs_.sweep(
        1, [this](const Slab<double>& slab) { sweep(slab); },
        [&](std::size_t) { return SumsOfSlabs<double>{sums_, none}; });
    sums_over_ranks_(sums_);
    const double error =
        error_of(plans_, [this](std::size_t k, std::size_t j) { return v_[k * stride_ + j] * sums_[k * stride_ + j]; });
    found.front() = {error, sums_.back() > 0};
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> /*problems*/) override {
    for (std::size_t n = 0; n < v_.size(); ++n) {
      const double mass = plans_.masses[n / stride_][n % stride_];
      v_[n] = mass == 0 ? 0 : mass / sums_[n];
      if (mass > 0 && (!(sums_[n] >= lowest_sum<double>) || !(v_[n] > 0) || !std::isfinite(v_[n]))) return {0};
    }
    return {};
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t /*problem*/) override {
    return Iterate{std::span(v_), false, plans_.shares};
  }
  void find_slopes(std::size_t /*problem*/, std::span<double> slopes) override {
    for (std::size_t n = 0; n < v_.size(); ++n) {
      slopes[n] = plans_.shares[n] - plans_.weights[n / stride_] * v_[n] * sums_[n];
    }
  }
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index /*iteration*/) const override {
    return {iterate::End::numbers, "factors left the range of numbers; the logarithmic domain has none"};
  }

  /// `v` gives `u`.
  void save(iterate::Checkpoint& checkpoint) const override {
    checkpoint.by_rank["u"].resize(u_.size());
    checkpoint.shared["v"] = v_;
  }
  void resume(const iterate::Checkpoint& checkpoint) override {
    take(checkpoint.shared, "v", "factors of columns", std::span(v_));
  }

  /// Gives the plans the potentials that the factors are.
  void put_potentials() {
    for (std::size_t k = 0; k < count_; ++k) {
      for (std::size_t i = 0; i < shift_.size(); ++i) {
        plans_.f[k][i] = shift_[i] + std::log(u_[k * shift_.size() + i]);
      }
    }
    std::ranges::transform(v_, plans_.g.begin(), [](double factor) { return std::log(factor); });
  }

 private:
  using SumsOfBlock = std::array<double, simd::most_rows_at_a_time>;

  void sweep(const Slab<double>& slab) {
    const auto of_block = std::span(of_block_).subspan(slab.thread * count_, count_);
    const Index row_bytes = std::max(Index{1}, matrix_.columns()) * Index{sizeof(double)};
    const Index at_a_time = std::clamp(cache_bytes() / 2 / row_bytes, Index{1}, simd::most_rows_at_a_time);
    for_each_block(matrix_view<const double>(rows_of(matrix_, slab.first, slab.count)), at_a_time,
                   [&](Index done, const auto& block, const auto&, const auto&) {
                     const Index first = slab.first + done;
                     for (std::size_t k = 0; k < count_; ++k) {
                       kernels_.row_sums(block, v_.data() + k * stride_, of_block[k].data(), {});
                     }
                     for (Index n = 0; n < block.rows; ++n) {
                       move_row(first + n, static_cast<std::size_t>(n), of_block, slab.memory.back());
                     }
                     for (std::size_t k = 0; k < count_; ++k) {
                       kernels_.column_sums(block, u_.data() + k * shift_.size() + first,
                                            slab.memory.data() + k * stride_, {});
                     }
                   });
  }

  void move_row(Index i, std::size_t in_block, std::span<const SumsOfBlock> of_block, double& unsound) {
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
      double& u = u_[k * shift_.size() + row];
      u = is_reached ? mass / of_block[k][in_block] : 0;
      is_sound = is_sound && (u > 0 || !is_reached) && std::isfinite(u);
    }
    if (!is_sound) unsound += 1;
  }

  BarycentrePlans& plans_;
  std::size_t count_;
  std::size_t stride_;  // columns
  SumOverRanks<double> sums_over_ranks_;
  Slabs<double> slabs_;
  Array<double> kernel_;
  matrix_view<double> matrix_;
  simd::ScalingKernels<double, double> kernels_ = simd::scaling_kernels<double, double>();
  std::vector<double> shift_;
  std::vector<double> v_;  // of all histograms, one behind the other; likewise:
  std::vector<double> u_;
  std::vector<double> sums_;           // and, behind them, how many numbers left their range
  std::vector<SumsOfBlock> of_block_;  // of each thread
};

class LogarithmProjections final : public Method {
 public:
  LogarithmProjections(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans, double span)
      : Method({&one_problem(), 1}),
        context_(context),
        costs_(costs),
        plans_(plans),
        span_(span),
        sums_over_ranks_(context, static_cast<Index>(plans.masses.size()) * costs.columns()) {
    const auto stride = static_cast<std::size_t>(costs.columns());
    mpi::agreed(context, [&] {
      sums_.resize(plans.masses.size() * stride);
      log_masses_.resize(plans.barycentre.size());
      for (std::size_t k = 0; k < plans.masses.size(); ++k) {
        const auto sums = std::span(sums_).subspan(k * stride, stride);
        vectors_.push_back({{}, plans.f[k], plans.g_of(k), sums});
        columns_.push_back({plans.masses[k], plans.f[k], plans.g_of(k), sums});
      }
    });
  }

  void rows(std::span<const std::size_t> /*problems*/, std::span<Found> found) override {
    std::ranges::fill(sums_, 0.0);
    costs_.sweep_in_common(vectors_, plans_.weights, log_masses_);
    sums_over_ranks_(sums_);
    found.front().error = error_of(plans_, [this](std::size_t k, std::size_t j) { return vectors_[k].sums[j]; });
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> /*problems*/) override {
    const auto lost = move_columns<double>(context_, costs_, LogUpdate(1), columns_);
    unreached_.clear();
    for (std::size_t k = 0; k < lost.size() && unreached_.empty(); ++k) {
      if (!lost[k]) continue;
      unreached_ = fmt::format(
          "histogram {} has mass in column {}, which none of the rows reaches that all histograms reach", k, *lost[k]);
    }
    return unreached_.empty() ? std::vector<std::size_t>() : std::vector<std::size_t>{0};
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t /*problem*/) override {
    return Iterate{std::span(plans_.g), true, plans_.shares};
  }
  void find_slopes(std::size_t /*problem*/, std::span<double> slopes) override {
    const std::size_t stride = plans_.masses.front().size();
    for (std::size_t n = 0; n < sums_.size(); ++n) {
      slopes[n] = plans_.shares[n] - plans_.weights[n / stride] * sums_[n];
    }
  }
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index iteration) const override {
    if (!unreached_.empty()) return {iterate::End::no_solution, unreached_};
    return {iterate::End::numbers,
            fmt::format("sums left the range of numbers in iteration {} of a stage where costs are up to {:.3g} times "
                        "epsilon; a larger epsilon is needed",
                        iteration, span_)};
  }

  void save(iterate::Checkpoint& checkpoint) const override { checkpoint.shared["g"] = plans_.g; }
  void resume(const iterate::Checkpoint& checkpoint) override {
    take(checkpoint.shared, "g", "potentials of columns", std::span(plans_.g));
  }

  void put_masses() {
    std::ranges::transform(log_masses_, plans_.barycentre.begin(),
                           [](double logarithm) { return std::exp(logarithm); });
  }

 private:
  mpi::Context& context_;
  CostOperand<double>& costs_;
  BarycentrePlans& plans_;
  double span_;
  SumOverRanks<double> sums_over_ranks_;
  std::vector<double> sums_;  // of all histograms, one behind the other
  std::vector<double> log_masses_;
  std::vector<LogVectors<double>> vectors_;
  std::vector<LogColumns<double>> columns_;
  std::string unreached_;  // which column, if there is one
};

}  // namespace

std::optional<Outcome> project_by_factors(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans,
                                          const Limits& limits) {
  FactorProjections method(context, costs, plans);
  auto outcome = iterated(context, method, limits, {roundoff_of<double>()}).front();
  if (outcome.is_out_of_range) return std::nullopt;
  method.put_potentials();
  return outcome;
}

Outcome project_by_logarithms(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans, double span,
                              const Limits& limits) {
  LogarithmProjections method(context, costs, plans, span);
  const auto rounding = rounding_of_logarithms(roundoff_of<double>(), span, iterate::Errors::fall);
  auto outcome = iterated(context, method, limits, rounding).front();
  if (outcome.is_out_of_range) {
    outcome.error = infinity;
  } else {
    method.put_masses();
  }
  return outcome;
}

}  // namespace plait::sinkhorn
