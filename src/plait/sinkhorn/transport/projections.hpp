#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/scaling/rows.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

/// Iterative Bregman projections with one epsilon. Collective over the context.
namespace plait::sinkhorn {

/// Histograms of mass 1, or of none, and their plans. Vectors of all columns, or of this rank's rows, have those of one
/// histogram behind those of another; potentials are in units of epsilon, but between stages.
struct BarycentrePlans {
  std::vector<double> weights;  // of the histograms, which add up to 1
  std::vector<double> masses;   // of columns
  std::vector<double> shares;   // these times the weights
  std::vector<double> g;
  std::vector<double> f;
  std::vector<double> barycentre;  // the masses of this rank's rows

  [[nodiscard]] std::size_t count() const noexcept { return weights.size(); }
  [[nodiscard]] std::size_t rows() const noexcept { return barycentre.size(); }
  [[nodiscard]] std::size_t columns() const noexcept { return masses.size() / count(); }
  /// Of histogram k.
  template <class Vector>
  [[nodiscard]] auto of(std::size_t k, Vector& vector) const {
    const std::size_t length = vector.size() / count();
    return std::span(vector).subspan(k * length, length);
  }

  void multiply_potentials(double factor) {
    for (std::vector<double>* potentials : {&f, &g}) {
      for (double& potential : *potentials) potential *= factor;
    }
  }
  /// Potentials of rows go by rows, so that any number of ranks can go on from them.
  void save(iterate::Checkpoint& checkpoint) const {
    std::vector<double>& by_row = checkpoint.by_rank["f"];
    for (std::size_t n = 0; n < f.size(); ++n) by_row.push_back(f[n % count() * rows() + n / count()]);
    checkpoint.shared["g"] = g;
  }
  void resume(const iterate::Checkpoint& checkpoint) {
    const auto& by_row = vector_of(checkpoint.by_rank, "f", "potentials of rows", f.size());
    for (std::size_t n = 0; n < f.size(); ++n) f[n % count() * rows() + n / count()] = by_row[n];
    take(checkpoint.shared, "g", "potentials of columns", std::span(g));
  }
};

/// Several histograms are one problem: their plans have the sums of rows in common.
inline const CheckedMarginals& one_problem() {
  static const CheckedMarginals problem = [] {
    CheckedMarginals made;
    made.are_uniform = false;
    return made;
  }();
  return problem;
}

/// Iterative Bregman projections with one epsilon, by factors or by logarithms.
class Projections : public Method {
 public:
  Projections(mpi::Context& context, BarycentrePlans& plans)
      : Method({&one_problem(), 1}),
        context_(context),
        plans_(plans),
        sums_(mpi::agreed(context, [&] { return std::vector<double>(plans.masses.size() + 1); })),
        sums_over_ranks_(context, static_cast<Index>(sums_.size())) {}

  /// The error is what the plans' sums of columns are off by, in the weighted mean.
  void rows(std::span<const std::size_t> /*problems*/, std::span<Found> found) final {
    std::ranges::fill(sums_, 0.0);
    sweep();
    sums_over_ranks_(sums_);
    double error = 0;
    double total = 0;
    for (std::size_t k = 0, n = 0; k < plans_.count(); ++k) {
      double distance = 0;
      double mass = 0;
      for (std::size_t j = 0; j < plans_.columns(); ++j, ++n) {
        distance += std::abs(sum(n, sums_[n]) - plans_.masses[n]);
        mass += plans_.masses[n];
      }
      error += plans_.weights[k] * distance;
      total += plans_.weights[k] * mass;
    }
    found.front() = {total > 0 ? error / total : error, sums_.back() > 0};
  }
  void find_slopes(std::size_t /*problem*/, std::span<double> slopes) final {
    for (std::size_t n = 0; n < slopes.size(); ++n) {
      slopes[n] = plans_.shares[n] - plans_.weights[n / plans_.columns()] * sum(n, sums_[n]);
    }
  }

 protected:
  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] BarycentrePlans& plans() const noexcept { return plans_; }
  /// Of columns, and behind them how many numbers left their range.
  [[nodiscard]] std::span<double> sums() noexcept { return sums_; }

 private:
  /// All plans get the same sums of rows: the weighted geometric mean of what they have.
  virtual void sweep() = 0;
  /// Of column n in its plan.
  /// \param of_rows  what the sweep found
  [[nodiscard]] virtual double sum(std::size_t n, double of_rows) const = 0;

  mpi::Context& context_;
  BarycentrePlans& plans_;
  std::vector<double> sums_;
  SumOverRanks<double> sums_over_ranks_;
};

class FactorProjections final : public Projections {
 public:
  FactorProjections(mpi::Context& context, const CostOperand<double>& costs, BarycentrePlans& plans)
      : Projections(context, plans),
        shift_(mpi::agreed(context, [&] { return std::vector<double>(plans.rows()); })),
        kernel_(mpi::agreed(context, [&] { return filled(costs, shift_); })),
        rows_(mpi::agreed(context, [&] {
          return DenseRows<double, double>(kernel_.matrix, plans.count(), context.topology().threads());
        })) {
    mpi::agreed(context, [&] {
      v_.assign(plans.g.size(), 1.0);
      u_.assign(plans.f.size(), 1.0);
      swept_.resize(plans.count());
      for (std::size_t k = 0; k < plans.count(); ++k) {
        vectors_.push_back(
            {plans.of(k, v_).data(), plans.of(k, u_).data(), sums().subspan(k * plans.columns(), plans.columns())});
      }
    });
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> /*problems*/) override {
    for (std::size_t n = 0; n < v_.size(); ++n) {
      const double mass = plans().masses[n];
      v_[n] = mass == 0 ? 0 : mass / sums()[n];
      if (mass > 0 && (!(sums()[n] >= lowest_sum<double>) || !(v_[n] > 0) || !std::isfinite(v_[n]))) return {0};
    }
    return {};
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t /*problem*/) override {
    return Iterate{std::span(v_), false, plans().shares};
  }
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index /*iteration*/) const override {
    return {iterate::End::numbers, "factors left the range of numbers; the logarithmic domain has none"};
  }

  /// `v` gives `u`.
  void save(iterate::Checkpoint& checkpoint) const override { checkpoint.shared["v"] = v_; }
  void resume(const iterate::Checkpoint& checkpoint) override {
    take(checkpoint.shared, "v", "factors of columns", std::span(v_));
  }

  /// Gives the plans the potentials that the factors are.
  void put_potentials() {
    for (std::size_t n = 0; n < u_.size(); ++n) plans().f[n] = shift_[n % shift_.size()] + std::log(u_[n]);
    std::ranges::transform(v_, plans().g.begin(), [](double factor) { return std::log(factor); });
  }

 private:
  using SumsOfBlock = DenseRows<double, double>::SumsOfBlock;

  [[nodiscard]] static StoredKernel<double> filled(const CostOperand<double>& costs, std::vector<double>& shift) {
    StoredKernel<double> made(costs);
    std::vector<double> sums(static_cast<std::size_t>(costs.columns()));  // which are not asked for
    costs.fill(made.matrix, shift, std::vector<double>(sums.size()), sums);
    return made;
  }

  void sweep() override {
    std::ranges::fill(swept_, RowsSwept());
    rows_.sweep_in_common(
        vectors_, swept_, [this](Index first, Index count, const SumsOfBlock* of_block, const Slab<double>& slab) {
          for (Index n = 0; n < count; ++n) {
            if (!move_row(static_cast<std::size_t>(first + n), static_cast<std::size_t>(n), of_block)) {
              ++slab.swept[0].unreached;
            }
          }
        });
    sums().back() = static_cast<double>(swept_[0].unreached);
  }
  [[nodiscard]] double sum(std::size_t n, double of_rows) const override { return v_[n] * of_rows; }

  /// Whether its numbers are sound.
  bool move_row(std::size_t row, std::size_t in_block, const SumsOfBlock* of_block) {
    double logarithm = 0;
    bool is_reached = true;
    bool is_sound = true;
    for (std::size_t k = 0; k < plans().count(); ++k) {
      const double sum = of_block[k][in_block];
      is_reached = is_reached && sum > 0;
      is_sound = is_sound && (sum == 0 || sum >= lowest_sum<double>);  // smaller ones may have lost digits
      logarithm += plans().weights[k] * std::log(sum);
    }
    // What one histogram does not reach has no mass.
    const double mass = is_reached ? std::exp(logarithm - shift_[row]) : 0;
    plans().barycentre[row] = mass;
    is_sound = is_sound && (mass > 0 || !is_reached);
    for (std::size_t k = 0; k < plans().count(); ++k) {
      double& u = vectors_[k].u[row];
      u = is_reached ? mass / of_block[k][in_block] : 0;
      is_sound = is_sound && (u > 0 || !is_reached) && std::isfinite(u);
    }
    return is_sound;
  }

  std::vector<double> shift_;
  StoredKernel<double> kernel_;  // rows are divided by their largest entries, exp(-shift)
  DenseRows<double, double> rows_;
  std::vector<double> v_;  // as the potentials of the plans; likewise:
  std::vector<double> u_;
  std::vector<BatchVectors<double>> vectors_;  // of each
  std::vector<RowsSwept> swept_;
};

class LogarithmProjections final : public Projections {
 public:
  /// \param span  the largest absolute value of a cost, in units of epsilon
  LogarithmProjections(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans, double span)
      : Projections(context, plans), costs_(costs), span_(span) {
    mpi::agreed(context, [&] {
      log_masses_.resize(plans.rows());
      for (std::size_t k = 0; k < plans.count(); ++k) {
        vectors_.push_back({{},
                            plans.of(k, plans.f),
                            plans.of(k, plans.g),
                            sums().subspan(k * plans.columns(), plans.columns()),
                            plans.of(k, plans.masses)});
      }
    });
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> /*problems*/) override {
    const auto lost = move_columns<double>(context(), costs_, LogUpdate(1), vectors_);
    const auto first = std::ranges::find_if(lost, [](const auto& column) { return column.has_value(); });
    if (first == lost.end()) return {};
    unreached_ =
        fmt::format("histogram {} has mass in column {}, which none of the rows reaches that all histograms reach",
                    first - lost.begin(), **first);
    return {0};
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t /*problem*/) override {
    return Iterate{std::span(plans().g), true, plans().shares};
  }
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index iteration) const override {
    if (!unreached_.empty()) return {iterate::End::no_solution, unreached_};
    return {iterate::End::numbers,
            fmt::format("sums left the range of numbers in iteration {} of a stage where costs are up to {:.3g} times "
                        "epsilon; a larger epsilon is needed",
                        iteration, span_)};
  }

  void save(iterate::Checkpoint& checkpoint) const override { checkpoint.shared["g"] = plans().g; }
  void resume(const iterate::Checkpoint& checkpoint) override {
    take(checkpoint.shared, "g", "potentials of columns", std::span(plans().g));
  }

  void put_masses() {
    std::ranges::transform(log_masses_, plans().barycentre.begin(),
                           [](double logarithm) { return std::exp(logarithm); });
  }

 private:
  void sweep() override { costs_.sweep_in_common(vectors_, plans().weights, log_masses_); }
  [[nodiscard]] double sum(std::size_t /*n*/, double of_rows) const override { return of_rows; }

  CostOperand<double>& costs_;
  double span_;
  std::vector<double> log_masses_;
  std::vector<LogVectors<double>> vectors_;
  std::string unreached_;  // which column, if there is one
};

/// From factors of 1. Null where numbers leave their range.
inline std::optional<Outcome> project_by_factors(mpi::Context& context, CostOperand<double>& costs,
                                                 BarycentrePlans& plans, const Limits& limits) {
  FactorProjections method(context, costs, plans);
  auto outcome = iterated(context, method, limits, {roundoff_of<double>()}).front();
  if (outcome.is_out_of_range) return std::nullopt;
  method.put_potentials();
  return outcome;
}

/// From the potentials of the columns. Where numbers left their range the error is infinite: there is no barycentre.
inline Outcome project_by_logarithms(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans,
                                     double span, const Limits& limits) {
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
