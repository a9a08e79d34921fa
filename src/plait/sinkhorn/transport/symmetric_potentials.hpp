#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

namespace plait::sinkhorn {

/// The iteration with one epsilon, in units of which the potentials are. All ranks have those of all rows.
template <class A>
class Averages final : public Method {
 public:
  Averages(mpi::Context& context, CostOperand<A>& costs, const CheckedMarginals& marginals)
      : Method({&marginals, 1}),
        context_(context),
        costs_(costs),
        masses_(marginals.rows),
        all_masses_(marginals.columns),
        counts_(mpi::all_gather(context.comm(), costs.rows())),
        first_(static_cast<std::size_t>(marginals.first_row)) {
    mpi::agreed(context, [&] {
      potentials_.assign(all_masses_.size(), A{0});
      moved_.resize(potentials_.size());
      sums_.resize(potentials_.size());
      own_.resize(masses_.size());
      for (std::size_t i = 0; i < potentials_.size(); ++i) {
        if (all_masses_[i] == 0) potentials_[i] = -std::numeric_limits<A>::infinity();
      }
    });
  }

  void set_update(const LogUpdate& update) { update_ = update; }

  void multiply(double factor) {
    for (A& potential : potentials_) potential = static_cast<A>(static_cast<double>(potential) * factor);
  }

  [[nodiscard]] std::vector<A> potentials() && { return std::move(potentials_); }

  /// The error is what sums were off by, relative to the sum of all.
  void rows(std::span<const std::size_t> /*problems*/, std::span<Found> found) override {
    std::copy_n(potentials_.begin() + static_cast<std::ptrdiff_t>(first_), own_.size(), own_.begin());
    std::ranges::fill(sums_, A{0});
    const LogVectors<A> problem{masses_, own_, potentials_, sums_};
    RowsSwept swept;
    costs_.sweep({&problem, 1}, update_, {&swept, 1});
    if (swept.unreached > 0) own_.front() = std::numeric_limits<A>::quiet_NaN();
    collective::all_gather(context_, std::span<const A>(own_), std::span<A>(moved_), counts_);
    double off = 0;
    double total = 0;
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      if (all_masses_[i] == 0 && !std::isnan(moved_[i])) continue;
      off += all_masses_[i] * std::abs(std::expm1(-change(i)));
      total += all_masses_[i];
    }
    found.front() = {total > 0 ? off / total : off, !std::isfinite(off)};
  }
  /// Columns are the rows.
  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> /*problems*/) override {
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      if (all_masses_[i] > 0) potentials_[i] = static_cast<A>(static_cast<double>(moved_[i]) - change(i) / 2);
    }
    return {};
  }
  [[nodiscard]] std::optional<Iterate> iterate(std::size_t /*problem*/) override {
    return Iterate{std::span(potentials_), true, all_masses_};
  }
  void find_slopes(std::size_t /*problem*/, std::span<double> slopes) override {
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      if (all_masses_[i] == 0) continue;
      slopes[i] = -update_.wanted(all_masses_[i], static_cast<double>(potentials_[i])) *
                  std::expm1(-change(i) / update_.exponent());
    }
  }
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index /*iteration*/) const override {
    return {iterate::End::numbers, "some sums can't be had"};
  }

 private:
  /// What gives row i its sum.
  [[nodiscard]] double change(std::size_t i) const {
    return static_cast<double>(moved_[i]) - static_cast<double>(potentials_[i]);
  }

  mpi::Context& context_;
  CostOperand<A>& costs_;
  std::span<const double> masses_;  // of this rank's rows
  std::span<const double> all_masses_;
  std::vector<Index> counts_;
  std::size_t first_;  // of this rank's rows
  LogUpdate update_{1};
  std::vector<A> potentials_;
  std::vector<A> moved_;  // what gives rows their sums
  std::vector<A> own_;    // those of this rank
  std::vector<A> sums_;
};

/// The potentials of a transport from masses to themselves, where those of rows and columns are one: fixed points of
///
///     f ← (f + T f) / 2,
///
/// T f what gives the rows their sums. Near the end an iteration multiplies the error by a half at most for costs such
/// as squared distances, however small epsilon is, where rows and columns in turns may take ten thousands of them.
/// For all columns, in the costs' unit, as a start of `transport`, which checks everything; empty where it does not
/// come to an end. Stages, as of `transport`, are added to `stages`.
///
/// Collective over `context`.
///
/// \param masses   of this rank's rows, and of all columns, which are the same
/// \param options  the first epsilon: what to begin with, 0 for the last one
///
/// Source: Feydy et al., "Interpolating between optimal transport and MMD using Sinkhorn divergences", 2019.
template <class A>
std::vector<A> symmetric_potentials(mpi::Context& context, CostOperand<A>& costs, const Marginals& masses,
                                    const TransportOptions& options, std::vector<TransportStage>& stages) {
  const Index first = mpi::sum_below(context.comm(), costs.rows());
  const auto marginals = mpi::agreed(context, [&] {
    CheckedMarginals made;
    made.rows.assign(masses.rows.begin(), masses.rows.end());
    made.columns.assign(masses.columns.begin(), masses.columns.end());
    made.first_row = first;
    return made;
  });
  Averages<A> averages(context, costs, marginals);
  Stages epsilons(options, 0);
  while (true) {
    constexpr Index most = 1000;
    const double epsilon = epsilons.epsilon();
    Limits limits = mpi::agreed(context, [&] { return epsilons.limits(Domain::logarithmic, {}, {}); });
    if (epsilons.is_last()) limits.tolerance /= 4;
    limits.most_iterations = std::min(most, limits.most_iterations);
    mpi::agreed(context, [&] { costs.set_epsilon(epsilon, 1); });
    averages.multiply(1 / epsilon);
    averages.set_update(LogUpdate(relaxed_exponent(options.rho.rows, epsilon)));
    // Where errors come and go rounding leaves what it leaves; `transport` knows what to do about it.
    const auto outcome =
        iterated(context, averages, limits, {roundoff_of<A>(), 1 / roundoff_of<A>(), iterate::Errors::fluctuate})
            .front();
    if (outcome.is_out_of_range) return {};
    if (outcome.iterations > 0) stages.push_back({epsilon, outcome.iterations, Domain::logarithmic});
    averages.multiply(epsilon);
    if (epsilons.is_last()) return std::move(averages).potentials();
    epsilons.next();
  }
}

}  // namespace plait::sinkhorn
