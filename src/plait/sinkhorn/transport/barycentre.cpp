#include "plait/sinkhorn/transport/barycentre.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/exponential_kernels.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/sweep/batch_sweep.hpp"

namespace plait::sinkhorn {

namespace {

constexpr double widest = 500;  // so that exp(-widest) and a good deal less are numbers

double mass_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void expect_histograms(const Histograms& histograms, Index columns) {
  if (histograms.masses.empty()) throw ArgumentError("no histograms are given, expected one at least");
  const double total = mass_of(histograms.masses.front());
  for (std::size_t k = 0; k < histograms.masses.size(); ++k) {
    const auto masses = histograms.masses[k];
    if (static_cast<Index>(masses.size()) != columns) {
      throw ArgumentError(
          fmt::format("histogram {} has {} masses, expected {}, one for each column", k, masses.size(), columns));
    }
    for (std::size_t j = 0; j < masses.size(); ++j) {
      if (masses[j] >= 0 && std::isfinite(masses[j])) continue;
      throw ArgumentError(
          fmt::format("the mass {} of histogram {} is {}, expected a finite number >= 0", j, k, masses[j]));
    }
    const double own = mass_of(masses);
    if (std::abs(own - total) > sums_tolerance * std::max(own, total)) {
      throw ArgumentError(
          fmt::format("histogram {} has the mass {} in all, the first one {}, expected the same", k, own, total));
    }
  }
  const auto weights = histograms.weights;
  if (weights.empty()) return;
  if (weights.size() != histograms.masses.size()) {
    throw ArgumentError(fmt::format("{} weights are given, expected {}, one for each histogram", weights.size(),
                                    histograms.masses.size()));
  }
  for (const double weight : weights) {
    if (!(weight > 0)) throw ArgumentError(fmt::format("a weight is {}, expected a number > 0", weight));
  }
  if (!(std::abs(mass_of(weights) - 1) <= sums_tolerance)) {
    throw ArgumentError(fmt::format("the weights add up to {}, expected 1", mass_of(weights)));
  }
}

template <class T>
class Projections {
 public:
  Projections(mpi::Context& context, matrix_view<const T> costs, const Histograms& histograms, double epsilon,
              const Limits& limits)
      : context_(context),
        costs_(costs),
        count_(histograms.masses.size()),
        stride_(static_cast<std::size_t>(costs.columns())),
        course_(limits, roundoff_of<double>()) {
    const Index leading_dimension = std::max(Index{1}, costs.columns());
    mpi::agreed(context, [&] {
      weights_.assign(histograms.weights.begin(), histograms.weights.end());
      if (weights_.empty()) weights_.assign(count_, 1 / static_cast<double>(count_));
      total_ = mass_of(histograms.masses.front());
      for (const auto masses : histograms.masses) {
        const double own = mass_of(masses);
        for (const double mass : masses) masses_.push_back(own > 0 ? mass * (total_ / own) : 0);
      }
      kernel_ = Array<double>(costs.rows() * leading_dimension);
      v_.assign(count_ * stride_, 1.0);
      u_.assign(count_ * static_cast<std::size_t>(costs.rows()), 1.0);
      sums_.resize(count_ * stride_);
      of_block_.resize(count_);
      barycentre_.resize(static_cast<std::size_t>(costs.rows()));
      for (std::size_t k = 0; k < count_; ++k) {
        vectors_.push_back({v_.data() + k * stride_, u_.data() + k * barycentre_.size(), sums_.data() + k * stride_});
      }
    });
    matrix_ = {kernel_.data(), costs.rows(), costs.columns(), leading_dimension, StorageOrder::row_major};
    fill(epsilon);
  }

  [[nodiscard]] Barycentre to_the_end() {
    SumOverRanks<double> sums_over_ranks(context_, static_cast<Index>(sums_.size()));
    while (!course_.is_at_limit()) {
      sweep();
      sums_over_ranks(sums_);
      course_.took(error());
      if (!std::isfinite(course_.outcome().error)) return out_of_range();
      if (course_.is_over()) return result();
      if (course_.is_at_limit()) break;
      for (std::size_t n = 0; n < v_.size(); ++n) {
        v_[n] = masses_[n] == 0 ? 0 : masses_[n] / sums_[n];
        if (masses_[n] > 0 && (!(v_[n] > 0) || !std::isfinite(v_[n]))) return out_of_range();
      }
    }
    course_.at_limit();
    return result();
  }

 private:
  void fill(double epsilon) {
    const auto kernels = simd::exponential_kernels<T, double>();
    const auto zeros = mpi::agreed(context_, [&] { return std::vector<double>(stride_); });
    constexpr double none = 0;
    for (Index i = 0; i < costs_.rows(); ++i) {
      double sum = 0;
      kernels.exponential_sums(
          {costs_.data() + i * costs_.leading_dimension(), 1, costs_.columns(), costs_.leading_dimension()},
          -1 / epsilon, &none, zeros.data(),
          {matrix_.data() + i * matrix_.leading_dimension(), 1, matrix_.columns(), matrix_.leading_dimension()}, &sum);
    }
  }

  /// All plans get the same sums of rows: the weighted geometric mean of what they have.
  void sweep() {
    std::ranges::fill(sums_, 0.0);
    batch_sweep<double, double>(kernels_, matrix_, vectors_, of_block_,
                                [this](Index first, Index count, const std::vector<SumsOfBlock<double>>& of_block) {
                                  for (Index n = 0; n < count; ++n) {
                                    double logarithm = 0;
                                    for (std::size_t k = 0; k < count_; ++k) {
                                      logarithm += weights_[k] * std::log(of_block[k][static_cast<std::size_t>(n)]);
                                    }
                                    const double mass = std::exp(logarithm);
                                    barycentre_[static_cast<std::size_t>(first + n)] = mass;
                                    for (std::size_t k = 0; k < count_; ++k) {
                                      // What one histogram does not reach has no mass.
                                      vectors_[k].u[first + n] =
                                          mass == 0 ? 0 : mass / of_block[k][static_cast<std::size_t>(n)];
                                    }
                                  }
                                });
  }

  [[nodiscard]] double error() const {
    double error = 0;
    for (std::size_t k = 0; k < count_; ++k) {
      double distance = 0;
      for (std::size_t n = k * stride_; n < (k + 1) * stride_; ++n) distance += std::abs(v_[n] * sums_[n] - masses_[n]);
      error += weights_[k] * distance;
    }
    return total_ > 0 ? error / total_ : error;
  }

  [[nodiscard]] Barycentre out_of_range() {
    course_.ended(Status::numerical_limit,
                  fmt::format("factors left the range of double in iteration {}: epsilon is too "
                              "small, or a column is out of reach",
                              course_.outcome().iterations));
    std::ranges::fill(barycentre_, std::numeric_limits<double>::quiet_NaN());
    return {course_.outcome(), std::move(barycentre_),
            std::vector<double>(count_, std::numeric_limits<double>::quiet_NaN())};
  }

  [[nodiscard]] Barycentre result() {
    auto costs = mpi::agreed(context_, [&] { return std::vector<double>(count_); });
    for (Index i = 0; i < costs_.rows(); ++i) {
      const T* cost = costs_.data() + i * costs_.leading_dimension();
      const double* row = matrix_.data() + i * matrix_.leading_dimension();
      for (std::size_t k = 0; k < count_; ++k) {
        double sum = 0;
        for (std::size_t j = 0; j < stride_; ++j) {
          if (row[j] > 0) sum += static_cast<double>(cost[j]) * row[j] * vectors_[k].v[j];
        }
        costs[k] += vectors_[k].u[i] * sum;
      }
    }
    mpi::all_reduce(context_.comm(), std::span<double>(costs), mpi::Operation::sum());
    return {course_.outcome(), std::move(barycentre_), std::move(costs)};
  }

  mpi::Context& context_;
  matrix_view<const T> costs_;
  std::size_t count_;
  std::size_t stride_;  // columns
  Course course_;
  Array<double> kernel_;
  matrix_view<double> matrix_;
  simd::ScalingKernels<double, double> kernels_ = simd::scaling_kernels<double, double>();
  double total_ = 0;
  std::vector<double> weights_;
  std::vector<double> masses_;  // of all histograms, one behind the other; likewise:
  std::vector<double> v_;
  std::vector<double> u_;
  std::vector<double> sums_;
  std::vector<double> barycentre_;
  std::vector<BatchVectors<double>> vectors_;
  std::vector<SumsOfBlock<double>> of_block_;
};

}  // namespace

template <class T>
Barycentre barycentre(mpi::Context& context, matrix_view<const T> costs, const Histograms& histograms, double epsilon,
                      const Limits& limits) {
  const Index columns = mpi::all_reduce(context.comm(), costs.columns(), mpi::Operation::maximum());
  mpi::agreed(context, [&] {
    expect_valid(limits);
    if (!costs.empty() && costs.order() != StorageOrder::row_major) {
      throw ArgumentError("the costs are column-major, expected row-major");
    }
    if (costs.columns() != columns) {
      throw ArgumentError(
          fmt::format("this rank's rows have {} columns, those of others {}", costs.columns(), columns));
    }
    if (!(epsilon > 0) || !std::isfinite(epsilon)) {
      throw ArgumentError(fmt::format("epsilon is {}, expected a finite number > 0", epsilon));
    }
    expect_histograms(histograms, columns);
  });
  CheckedMarginals reached = mpi::agreed(context, [&] {
    CheckedMarginals any;
    any.rows.resize(static_cast<std::size_t>(costs.rows()));
    any.columns.resize(static_cast<std::size_t>(columns));
    for (const auto masses : histograms.masses) {
      for (std::size_t j = 0; j < masses.size(); ++j) any.columns[j] = std::max(any.columns[j], masses[j]);
    }
    return any;
  });
  reached.first_row = mpi::sum_below(context.comm(), costs.rows());
  const double highest = check_costs<T>(context, costs, reached);
  if (highest > widest * epsilon) {
    return mpi::agreed(context, [&] {
      constexpr double nan = std::numeric_limits<double>::quiet_NaN();
      Barycentre none;
      none.outcome.status = Status::numerical_limit;
      none.outcome.reason = fmt::format(
          "epsilon is {}, expected {:.3g} at least, {} of the largest cost: exponentials "
          "of smaller ones leave the range of numbers",
          epsilon, highest / widest, 1 / widest);
      none.outcome.error = std::numeric_limits<double>::infinity();
      none.masses.assign(static_cast<std::size_t>(costs.rows()), nan);
      none.costs.assign(histograms.masses.size(), nan);
      return none;
    });
  }
  return Projections<T>(context, costs, histograms, epsilon, limits).to_the_end();
}

template Barycentre barycentre(mpi::Context&, matrix_view<const double>, const Histograms&, double, const Limits&);
template Barycentre barycentre(mpi::Context&, matrix_view<const float>, const Histograms&, double, const Limits&);

}  // namespace plait::sinkhorn
