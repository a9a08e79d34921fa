#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/transport/bregman_projections.hpp"
#include "plait/sinkhorn/transport/log_columns.hpp"

namespace plait::sinkhorn {

namespace {

class LogarithmProjections {
 public:
  LogarithmProjections(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans, double span,
                       const Limits& limits)
      : context_(context),
        costs_(costs),
        plans_(plans),
        count_(plans.masses.size()),
        stride_(static_cast<std::size_t>(costs.columns())),
        course_(limits, roundoff_of<double>(), span),
        span_(span) {
    mpi::agreed(context, [&] {
      if (const ScalingState* from = limits.checkpoints.from) expect_fewer(*from, limits.most_iterations);
      sums_.resize(count_ * stride_);
      log_masses_.resize(plans.barycentre.size());
      for (std::size_t k = 0; k < count_; ++k) {
        const auto sums = std::span(sums_).subspan(k * stride_, stride_);
        vectors_.push_back({{}, plans.f[k], plans.g[k], sums});
        columns_.push_back({plans.masses[k], plans.f[k], plans.g[k], sums});
      }
    });
  }

  [[nodiscard]] Outcome to_the_end() {
    SumOverRanks<double> sums_over_ranks(context_, static_cast<Index>(sums_.size()));
    while (!course_.is_at_limit()) {
      std::ranges::fill(sums_, 0.0);
      costs_.sweep_in_common(vectors_, plans_.weights, log_masses_);
      sums_over_ranks(sums_);
      course_.took(error());
      if (!std::isfinite(course_.outcome().error)) return out_of_range();
      if (course_.is_over()) return ended();
      if (course_.is_at_limit()) break;
      const auto lost = move_columns<double>(context_, costs_, LogUpdate(1, 1), columns_);
      for (std::size_t k = 0; k < count_; ++k) {
        if (lost[k]) return out_of_reach(k, *lost[k]);
      }
      course_.keep([] { return ScalingState(); });
    }
    course_.at_limit();
    return ended();
  }

 private:
  [[nodiscard]] double error() const {
    double error = 0;
    double total = 0;
    for (std::size_t k = 0; k < count_; ++k) {
      double distance = 0;
      double mass = 0;
      for (std::size_t j = 0; j < stride_; ++j) {
        distance += std::abs(vectors_[k].sums[j] - plans_.masses[k][j]);
        mass += plans_.masses[k][j];
      }
      error += plans_.weights[k] * distance;
      total += plans_.weights[k] * mass;
    }
    return total > 0 ? error / total : error;
  }

  [[nodiscard]] Outcome ended() {
    std::ranges::transform(log_masses_, plans_.barycentre.begin(),
                           [](double logarithm) { return std::exp(logarithm); });
    return course_.outcome();
  }

  [[nodiscard]] Outcome out_of_range() {
    Outcome outcome = course_.ended(
        Status::numerical_limit,
        fmt::format("sums left the range of numbers in iteration {} of a stage where costs are up to {:.3g} times "
                    "epsilon; a larger epsilon is needed",
                    course_.outcome().iterations, span_));
    outcome.error = std::numeric_limits<double>::infinity();
    return outcome;
  }

  [[nodiscard]] Outcome out_of_reach(std::size_t histogram, std::size_t column) {
    Outcome outcome =
        course_.ended(Status::infeasible_marginals,
                      fmt::format("histogram {} has mass in column {}, which none of the rows reaches that all "
                                  "histograms reach",
                                  histogram, column));
    outcome.error = std::numeric_limits<double>::infinity();
    return outcome;
  }

  mpi::Context& context_;
  CostOperand<double>& costs_;
  BarycentrePlans& plans_;
  std::size_t count_;
  std::size_t stride_;  // columns
  Course course_;
  double span_;
  std::vector<double> sums_;  // of all histograms, one behind the other
  std::vector<double> log_masses_;
  std::vector<LogVectors<double>> vectors_;
  std::vector<LogColumns<double>> columns_;
};

}  // namespace

Outcome project_by_logarithms(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans, double span,
                              const Limits& limits) {
  return LogarithmProjections(context, costs, plans, span, limits).to_the_end();
}

}  // namespace plait::sinkhorn
