#include "plait/sinkhorn/transport/transports.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

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
                 0, infinity};
}

template <class A>
Transport<A> without_plan(Transport<A> result) {
  constexpr A none = std::numeric_limits<A>::quiet_NaN();
  std::ranges::fill(result.f, none);
  std::ranges::fill(result.g, none);
  for (double* value : {&result.cost, &result.mass, &result.primal, &result.dual}) *value = static_cast<double>(none);
  return result;
}

/// Puts potentials in units of epsilon into a checkpoint, and takes them from one.
template <class A>
void save(const Transport<A>& result, iterate::Checkpoint& checkpoint) {
  checkpoint.by_rank["f"].assign(result.f.begin(), result.f.end());
  checkpoint.shared["g"].assign(result.g.begin(), result.g.end());
}

template <class A>
void resume(const iterate::Checkpoint& checkpoint, Transport<A>& result) {
  const auto& f = iterate::vector_of(checkpoint.by_rank, "f");
  const auto& g = iterate::vector_of(checkpoint.shared, "g");
  if (f.size() != result.f.size() || g.size() != result.g.size()) {
    throw ArgumentError(fmt::format("the state has potentials of {} rows and {} columns, expected {} and {}", f.size(),
                                    g.size(), result.f.size(), result.g.size()));
  }
  const auto as_number = [](double potential) { return static_cast<A>(potential); };
  std::ranges::transform(f, result.f.begin(), as_number);
  std::ranges::transform(g, result.g.begin(), as_number);
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
        from_(options.limits.checkpoints.from),
        reached_(costs.reachable(context, masses)) {
    std::vector<Index> lost_rows;
    mpi::agreed(context, [&] {
      for (std::size_t k = 0; k < masses.size(); ++k) {
        expect_potentials(start, std::span<const double>(reached_[k].columns));
        runs_.push_back({beginning(reached_[k], start), false});
        lost_rows.push_back(lost_of(masses[k].rows, reached_[k].rows, options.rho.rows));
      }
      if (from_ == nullptr) return;
      so_far_ = stages_of(*from_, options.epsilon);
      resume(*from_, runs_.front().result);
      runs_.front().result.stages = so_far_.ended;
    });
    mpi::all_reduce(context.comm(), std::span<Index>(lost_rows), mpi::Operation::sum());
    mpi::agreed(context, [&] {
      const auto none = beyond_range<A>(highest, options.epsilon);
      for (std::size_t k = 0; k < runs_.size(); ++k) {
        auto why = out_of_reach(lost_rows[k], masses[k], reached_[k], options.rho);
        if (!why) why = none;
        if (!why) continue;
        runs_[k].result.outcome = std::move(*why);
        runs_[k].result.stages.push_back({options.epsilon, 0, Domain::logarithmic});
        end_without_plan(runs_[k]);
      }
    });
  }

  [[nodiscard]] std::vector<Transport<A>> to_the_end() {
    double epsilon =
        from_ != nullptr ? so_far_.epsilon : first_epsilon(options_.first_epsilon, highest_, options_.epsilon);
    while (true) {
      const auto active = mpi::agreed(context_, [this] { return those_that_go_on(); });
      if (active.empty()) break;
      for (const std::size_t k : active) {
        if (from_ == nullptr) in_units(runs_[k].result, 1 / epsilon);
      }
      stage(epsilon, active);
      end_or_go_on(active, epsilon);
      epsilon = next_epsilon(epsilon, options_.epsilon);
    }
    return mpi::agreed(context_, [this] {
      std::vector<Transport<A>> results;
      results.reserve(runs_.size());
      for (Run& run : runs_) results.push_back(std::move(run.result));
      return results;
    });
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

  [[nodiscard]] std::vector<std::size_t> those_that_go_on() const {
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

  [[nodiscard]] std::vector<StageProblem<A>> problems(const std::vector<std::size_t>& active) {
    return mpi::agreed(context_, [&] {
      std::vector<StageProblem<A>> problems;
      problems.reserve(active.size());
      for (const std::size_t k : active) problems.push_back({reached_[k], runs_[k].result.f, runs_[k].result.g});
      return problems;
    });
  }

  void ended(std::size_t k, double epsilon, Domain domain, Outcome outcome) {
    runs_[k].result.stages.push_back({epsilon, outcome.iterations, domain});
    runs_[k].result.outcome = std::move(outcome);
  }

  [[nodiscard]] Limits limits_of(double epsilon, Domain domain) {
    const Transport<A>& first = runs_.front().result;
    Limits limits = limits_of_stage(options_.limits, options_.epsilon, {first.stages, epsilon, domain},
                                    [&first](iterate::Checkpoint& checkpoint) { save(first, checkpoint); });
    limits.checkpoints.from = std::exchange(from_, nullptr);
    return limits;
  }

  /// By factors, and by logarithms for whom these leave the range of numbers.
  void stage(double epsilon, const std::vector<std::size_t>& active) {
    Domain domain = from_ != nullptr ? so_far_.domain : options_.domain;
    if (domain == Domain::automatic) {
      domain = highest_ / epsilon <= widest_factors<A> ? Domain::factors : Domain::logarithmic;
    }
    mpi::agreed(context_, [&] { costs_.set_epsilon(epsilon, active.size()); });
    const Stage<A> stage{
        costs_,
        {relaxed_exponent(options_.rho.rows, epsilon), relaxed_exponent(options_.rho.columns, epsilon)},
        highest_ / epsilon};
    auto left = active;
    if (domain == Domain::factors) left = by_factors(stage, epsilon, active);
    if (left.empty()) return;
    const auto limits = mpi::agreed(context_, [&] { return limits_of(epsilon, Domain::logarithmic); });
    const auto of_left = problems(left);
    auto outcomes = stage_by_logarithms<A>(context_, stage, of_left, limits);
    mpi::agreed(context_, [&] {
      for (std::size_t n = 0; n < left.size(); ++n) {
        ended(left[n], epsilon, Domain::logarithmic, std::move(outcomes[n]));
      }
    });
  }

  /// \return  those for which it does not work out
  [[nodiscard]] std::vector<std::size_t> by_factors(const Stage<A>& stage, double epsilon,
                                                    const std::vector<std::size_t>& active) {
    const auto limits = mpi::agreed(context_, [&] { return limits_of(epsilon, Domain::factors); });
    const auto of_active = problems(active);
    auto found = stage_by_factors<A>(context_, stage, of_active, limits);
    return mpi::agreed(context_, [&] {
      std::vector<std::size_t> left;
      for (std::size_t n = 0; n < active.size(); ++n) {
        if (!found[n] && options_.domain == Domain::factors) {
          found[n] = Outcome{Status::numerical_limit,
                             "exponentials of the costs left the range of numbers; the logarithmic domain has none", 0,
                             infinity};
        }
        if (found[n]) {
          ended(active[n], epsilon, Domain::factors, std::move(*found[n]));
        } else {
          left.push_back(active[n]);
        }
      }
      return left;
    });
  }

  void end_or_go_on(const std::vector<std::size_t>& active, double epsilon) {
    std::vector<PlanToEvaluate<A>> ended;
    std::vector<std::size_t> with_plan;
    mpi::agreed(context_, [&] {
      for (const std::size_t k : active) {
        Run& run = runs_[k];
        const Status status = run.result.outcome.status;
        if (status == Status::numerical_limit && !std::isfinite(run.result.outcome.error)) {
          end_without_plan(run);
          continue;
        }
        with_plan.push_back(k);
        run.is_over =
            epsilon <= options_.epsilon || status == Status::no_support || status == Status::infeasible_marginals;
        if (run.is_over) ended.push_back({&masses_[k], &run.result});
      }
    });
    evaluate_plans<A>(context_, costs_, ended, epsilon, options_.rho);
    for (const std::size_t k : with_plan) in_units(runs_[k].result, epsilon);
  }

  mpi::Context& context_;
  CostOperand<A>& costs_;
  std::span<const CheckedMarginals> masses_;  // that were given
  double highest_;
  const TransportOptions& options_;
  const iterate::Checkpoint* from_;  // until the stage under way has begun
  StagesSoFar so_far_;               // that it tells of
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
