#include "plait/sinkhorn/transport/transport_iterations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/transport/epsilon.hpp"
#include "plait/sinkhorn/transport/factor_stage.hpp"
#include "plait/sinkhorn/transport/logarithm_stage.hpp"
#include "plait/sinkhorn/transport/plan_values.hpp"
#include "plait/sinkhorn/transport/transport_checks.hpp"

namespace plait::sinkhorn {

namespace {

/// Columns without mass have no potential that counts.
template <class A>
void expect_potentials(std::span<const A> start, std::span<const double> marginals) {
  if (start.empty()) return;
  if (start.size() != marginals.size()) {
    throw ArgumentError(
        fmt::format("the start has potentials for {} columns, expected {}", start.size(), marginals.size()));
  }
  for (std::size_t j = 0; j < start.size(); ++j) {
    if (marginals[j] == 0 || std::isfinite(start[j])) continue;
    throw ArgumentError(
        fmt::format("the start has the potential {} for column {}, expected a finite one", start[j], j));
  }
}

/// How many that are to have a sum, and must not be missed, are out of reach.
Index lost_of(const std::vector<double>& wanted, const std::vector<double>& had, double rho) {
  if (rho < infinity) return 0;
  Index count = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) count += static_cast<Index>(wanted[k] > 0 && had[k] == 0);
  return count;
}

/// Why there is no plan, where some that must not be missed are out of reach.
///
/// \param rows  that are, of all ranks
std::optional<Outcome> out_of_reach(Index rows, const CheckedMarginals& masses, const CheckedMarginals& reached,
                                    const Rho& rho) {
  const Index columns = lost_of(masses.columns, reached.columns, rho.columns);
  if (rows + columns == 0) return std::nullopt;
  return Outcome{Status::infeasible_marginals,
                 fmt::format("{} {} that are to have a sum meet only what is forbidden or has none",
                             rows > 0 ? rows : columns, rows > 0 ? masses.names.rows() : masses.names.columns()),
                 0,
                 infinity,
                 {}};
}

template <class A>
std::vector<A> as_numbers(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

template <class A>
Transport<A> without_plan(Transport<A> result) {
  constexpr A none = std::numeric_limits<A>::quiet_NaN();
  std::ranges::fill(result.f, none);
  std::ranges::fill(result.g, none);
  for (double* value : {&result.cost, &result.mass, &result.primal, &result.dual}) *value = static_cast<double>(none);
  return result;
}

void expect_state(const TransportState& from, std::size_t rows, std::size_t columns, const TransportOptions& options) {
  if (from.f.size() != rows || from.g.size() != columns) {
    throw ArgumentError(fmt::format("the state has potentials of {} rows and {} columns, expected {} and {}",
                                    from.f.size(), from.g.size(), rows, columns));
  }
  if (!(from.epsilon >= options.epsilon)) {
    throw ArgumentError(
        fmt::format("the state has come to epsilon {}, expected {} at least", from.epsilon, options.epsilon));
  }
}

/// All problems, with one epsilon after the other.
template <class A>
class Transports {
 public:
  Transports(mpi::Context& context, CostOperand<A>& costs, std::span<const CheckedMarginals> masses, double highest,
             const TransportOptions& options, std::span<const A> start)
      : context_(context),
        costs_(costs),
        masses_(masses),
        highest_(highest),
        options_(options),
        reached_(costs.reachable(context, masses)) {
    std::vector<Index> lost_rows;
    mpi::agreed(context, [&] {
      for (std::size_t k = 0; k < masses.size(); ++k) {
        expect_potentials(start, std::span<const double>(reached_[k].columns));
        runs_.push_back({beginning(reached_[k], start), false});
        lost_rows.push_back(lost_of(masses[k].rows, reached_[k].rows, options.rho.rows));
      }
    });
    mpi::all_reduce(context.comm(), std::span<Index>(lost_rows), mpi::Operation::sum());
    const auto none = beyond_range<A>(highest, options.epsilon);
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      auto why = out_of_reach(lost_rows[k], masses[k], reached_[k], options.rho);
      if (!why) why = none;
      if (!why) continue;
      runs_[k].result.outcome = std::move(*why);
      runs_[k].result.stages.push_back({options.epsilon, 0, Domain::logarithmic});
      end_without_plan(runs_[k]);
    }
  }

  [[nodiscard]] std::vector<Transport<A>> to_the_end() {
    const TransportState* from = options_.from;
    if (from != nullptr && !runs_.front().is_over) {
      runs_.front().result.stages = from->stages;
      runs_.front().result.f = as_numbers<A>(from->f);
      runs_.front().result.g = as_numbers<A>(from->g);
    }
    double epsilon =
        from != nullptr ? from->epsilon : first_epsilon(options_.first_epsilon, highest_, options_.epsilon);
    while (true) {
      const bool is_last = epsilon <= options_.epsilon;
      const std::vector<std::size_t> active = who_goes_on();
      if (active.empty()) break;
      for (const std::size_t k : active) {
        if (from == nullptr) in_units(runs_[k].result, 1 / epsilon);
      }
      stage(epsilon, is_last, active, from);
      from = nullptr;
      end_or_go_on(active, epsilon, is_last);
      epsilon = next_epsilon(epsilon, options_.epsilon);
    }
    std::vector<Transport<A>> results;
    results.reserve(runs_.size());
    for (Run& run : runs_) results.push_back(std::move(run.result));
    return results;
  }

 private:
  struct Run {
    Transport<A> result;  // potentials in the costs' unit between stages
    bool is_over = false;
  };

  [[nodiscard]] Transport<A> beginning(const CheckedMarginals& reached, std::span<const A> start) const {
    Transport<A> result;
    result.f.assign(static_cast<std::size_t>(costs_.rows()), A{0});
    result.g.assign(static_cast<std::size_t>(costs_.columns()), A{0});
    if (options_.from != nullptr) expect_state(*options_.from, result.f.size(), result.g.size(), options_);
    // Where nothing can be, not even the first sweep is to find something.
    for (std::size_t j = 0; j < result.g.size(); ++j) {
      if (reached.columns[j] == 0) {
        result.g[j] = -std::numeric_limits<A>::infinity();
      } else if (!start.empty()) {
        result.g[j] = start[j];
      }
    }
    return result;
  }

  [[nodiscard]] std::vector<std::size_t> who_goes_on() const {
    std::vector<std::size_t> active;
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      if (!runs_[k].is_over) active.push_back(k);
    }
    return active;
  }

  static void in_units(Transport<A>& result, double factor) {
    for (std::vector<A>* potentials : {&result.f, &result.g}) {
      for (A& potential : *potentials) potential = static_cast<A>(static_cast<double>(potential) * factor);
    }
  }

  static void end_without_plan(Run& run) {
    run.result = without_plan(std::move(run.result));
    run.is_over = true;
  }

  [[nodiscard]] StageProblem<A> problem(std::size_t k) { return {reached_[k], runs_[k].result.f, runs_[k].result.g}; }

  void ended(std::size_t k, double epsilon, Domain domain, Outcome outcome) {
    runs_[k].result.stages.push_back({epsilon, outcome.iterations, domain});
    runs_[k].result.outcome = std::move(outcome);
  }

  [[nodiscard]] Limits limits_of(double epsilon, bool is_last, Domain domain, const TransportState* from) {
    Limits limits = limits_of_stage(options_.limits, is_last);
    limits.checkpoints = {options_.is_due, {}, from != nullptr ? &from->scaling : nullptr};
    if (options_.keep) {
      limits.checkpoints.keep = [this, epsilon, domain](const ScalingState& scaling) {
        const Transport<A>& result = runs_.front().result;
        options_.keep({result.stages,
                       epsilon,
                       domain,
                       {result.f.begin(), result.f.end()},
                       {result.g.begin(), result.g.end()},
                       scaling});
      };
    }
    return limits;
  }

  /// One problem has a matrix of its own, several share one.
  [[nodiscard]] std::vector<std::optional<Outcome>> by_factors(const Stage<A>& stage,
                                                               const std::vector<std::size_t>& active,
                                                               const Limits& limits) {
    if (active.size() == 1) return {stage_by_factors<A>(context_, stage, problem(active.front()), limits)};
    std::vector<StageProblem<A>> problems;
    problems.reserve(active.size());
    for (const std::size_t k : active) problems.push_back(problem(k));
    return stage_by_common_factors<A>(context_, stage, std::span<const StageProblem<A>>(problems), limits);
  }

  /// By factors, and by logarithms for whom these leave the range of numbers.
  void stage(double epsilon, bool is_last, const std::vector<std::size_t>& active, const TransportState* from) {
    Domain domain = from != nullptr ? from->domain : options_.domain;
    if (domain == Domain::automatic) {
      domain = highest_ / epsilon <= widest_factors<A> ? Domain::factors : Domain::logarithmic;
    }
    mpi::agreed(context_, [&] { costs_.set_epsilon(epsilon, 1); });
    const Stage<A> stage{costs_,
                         {relaxed_exponent(options_.rho.rows, epsilon), relaxed_exponent(options_.rho.columns, epsilon),
                          options_.over_relaxation},
                         highest_ / epsilon};
    Limits limits = limits_of(epsilon, is_last, domain, from);
    std::vector<std::optional<Outcome>> found(active.size());
    if (domain == Domain::factors) found = by_factors(stage, active, limits);
    std::vector<std::size_t> left;
    for (std::size_t n = 0; n < active.size(); ++n) {
      if (!found[n] && options_.domain == Domain::factors) {
        found[n] = Outcome{Status::numerical_limit,
                           "exponentials of the costs left the range of numbers; the logarithmic domain has none",
                           0,
                           infinity,
                           {}};
      }
      if (found[n]) {
        ended(active[n], epsilon, Domain::factors, std::move(*found[n]));
      } else {
        left.push_back(active[n]);
      }
    }
    if (left.empty()) return;
    if (domain == Domain::factors) {
      limits = limits_of(epsilon, is_last, Domain::logarithmic, nullptr);
    }
    std::vector<StageProblem<A>> problems;
    problems.reserve(left.size());
    for (const std::size_t k : left) problems.push_back(problem(k));
    auto outcomes = stage_by_logarithms<A>(context_, stage, std::span<const StageProblem<A>>(problems), limits);
    for (std::size_t n = 0; n < left.size(); ++n) {
      ended(left[n], epsilon, Domain::logarithmic, std::move(outcomes[n]));
    }
  }

  void end_or_go_on(const std::vector<std::size_t>& active, double epsilon, bool is_last) {
    std::vector<PlanToEvaluate<A>> ended;
    std::vector<std::size_t> with_plan;
    for (const std::size_t k : active) {
      Run& run = runs_[k];
      const Status status = run.result.outcome.status;
      if (status == Status::numerical_limit && !std::isfinite(run.result.outcome.error)) {
        end_without_plan(run);
        continue;
      }
      with_plan.push_back(k);
      run.is_over = is_last || status == Status::no_support || status == Status::infeasible_marginals;
      if (run.is_over) ended.push_back({&masses_[k], &run.result});
    }
    evaluate_plans<A>(context_, costs_, ended, epsilon, options_.rho);
    for (const std::size_t k : with_plan) in_units(runs_[k].result, epsilon);
  }

  mpi::Context& context_;
  CostOperand<A>& costs_;
  std::span<const CheckedMarginals> masses_;  // that were given
  double highest_;
  const TransportOptions& options_;
  std::vector<CheckedMarginals> reached_;
  std::vector<Run> runs_;
};

}  // namespace

template <class A>
std::vector<Transport<A>> transports_of(mpi::Context& context, CostOperand<A>& costs,
                                        std::span<const CheckedMarginals> masses, double highest,
                                        const TransportOptions& options, std::span<const A> start) {
  return Transports<A>(context, costs, masses, highest, options, start).to_the_end();
}

template std::vector<Transport<double>> transports_of(mpi::Context&, CostOperand<double>&,
                                                      std::span<const CheckedMarginals>, double,
                                                      const TransportOptions&, std::span<const double>);
template std::vector<Transport<float>> transports_of(mpi::Context&, CostOperand<float>&,
                                                     std::span<const CheckedMarginals>, double, const TransportOptions&,
                                                     std::span<const float>);

}  // namespace plait::sinkhorn
