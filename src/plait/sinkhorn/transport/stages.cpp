#include "plait/sinkhorn/transport/stages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

namespace plait::sinkhorn {

namespace {

Outcome out_of_range(std::string reason) { return {Status::numerical_limit, std::move(reason), 0, infinity}; }

}  // namespace

double relaxed_exponent(double rho, double epsilon) { return std::isinf(rho) ? 1 : rho / (rho + epsilon); }

double first_epsilon(double given, double highest, double last) {
  if (given > 0) return std::max(last, given);
  constexpr double wide = 40;
  return highest > wide * last ? highest / 10 : last;
}

double next_epsilon(double epsilon, double last) {
  // Within factors of 4 of the costs themselves little is gained.
  constexpr double step = 0.25;
  return std::max(last, epsilon * step);
}

StagesSoFar stages_of(const iterate::Checkpoint& checkpoint, double last) {
  const auto number = [&](const char* name) {
    const auto found = checkpoint.numbers.find(name);
    if (found == checkpoint.numbers.end()) throw ArgumentError(fmt::format("the state has no {}", name));
    return found->second;
  };
  StagesSoFar found{{}, number("epsilon"), static_cast<Domain>(number("domain"))};
  const auto& ended = iterate::vector_of(checkpoint.shared, "stages");
  for (std::size_t k = 0; k + 2 < ended.size(); k += 3) {
    found.ended.push_back({ended[k], static_cast<Index>(ended[k + 1]), static_cast<Domain>(ended[k + 2])});
  }
  if (found.epsilon >= last) return found;
  throw ArgumentError(fmt::format("the state has come to epsilon {}, expected {} at least", found.epsilon, last));
}

Limits limits_of_stage(const Limits& limits, double last, const StagesSoFar& so_far,
                       std::function<void(iterate::Checkpoint&)> put_potentials) {
  constexpr double rough = 1e-2;
  constexpr Index few = 100;
  Limits of_stage = limits;
  if (so_far.epsilon > last) {
    of_stage.tolerance = std::max(rough, limits.tolerance);
    // Not cut by the limit of the last stage: a run that is resumed with another one has come the same way.
    of_stage.most_iterations = limits.most_iterations > 0 ? few : 0;
    of_stage.checkpoints.goes_beyond = false;
  }
  of_stage.checkpoints.from = nullptr;
  if (!limits.checkpoints.keep) return of_stage;
  of_stage.checkpoints.keep = [keep = limits.checkpoints.keep, so_far, last,
                               put = std::move(put_potentials)](const iterate::Checkpoint& of_run) {
    iterate::Checkpoint checkpoint = of_run;
    checkpoint.numbers["epsilon"] = so_far.epsilon;
    if (so_far.epsilon > last) checkpoint.numbers["not limited"] = 1;
    checkpoint.numbers["domain"] = static_cast<double>(so_far.domain);
    std::vector<double>& ended = checkpoint.shared["stages"];
    for (const TransportStage& stage : so_far.ended) {
      ended.insert(ended.end(),
                   {stage.epsilon, static_cast<double>(stage.iterations), static_cast<double>(stage.domain)});
    }
    put(checkpoint);
    keep(checkpoint);
  };
  return of_stage;
}

template <class A>
std::optional<Outcome> beyond_range(double highest, double epsilon) {
  constexpr auto largest = static_cast<double>(std::numeric_limits<A>::max());
  constexpr auto* type = std::is_same_v<A, double> ? "double" : "float";
  constexpr double widest_potential = 1e4;  // in epsilons, beside what the costs make of it: logarithms of masses
  if (!(2 * (highest / largest) + widest_potential * (epsilon / largest) <= 1)) {
    return out_of_range(
        fmt::format("epsilon is {:.3g} and costs are as large as {:.3g}: potentials, which may be twice as "
                    "large as costs and {} epsilons beside, leave the range of {}; smaller numbers are needed",
                    epsilon, highest, widest_potential, type));
  }
  if (1 / epsilon > largest || highest / epsilon > largest) {
    return out_of_range(
        fmt::format("epsilon is {:.3g} and costs are as large as {:.3g}: in units of epsilon they are beyond the "
                    "range of {}; a larger epsilon is needed",
                    epsilon, highest, type));
  }
  // Nothing comes of plans that are known to a factor of e^1000, however many stages lead to them.
  constexpr double most_epsilons = 1e3;
  const double rounding = highest / epsilon * roundoff_of<A>();
  if (rounding <= most_epsilons) return std::nullopt;
  return out_of_range(
      fmt::format("costs are as large as {:.3g}, which {}s round to {:.3g} epsilons of {:.3g}; a larger epsilon is "
                  "needed",
                  highest, type, rounding, epsilon));
}

template std::optional<Outcome> beyond_range<double>(double, double);
template std::optional<Outcome> beyond_range<float>(double, double);

namespace {

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
                             rows > 0 ? rows : columns, rows > 0 ? "rows" : "columns"),
                 0, infinity};
}

template <class A>
void make_none(Transport<A>& result) {
  constexpr A none = std::numeric_limits<A>::quiet_NaN();
  std::ranges::fill(result.f, none);
  std::ranges::fill(result.g, none);
  for (double* value : {&result.cost, &result.mass, &result.primal, &result.dual}) *value = static_cast<double>(none);
}

/// Puts potentials in units of epsilon into a checkpoint, and takes them from one.
template <class A>
void save(const Transport<A>& result, iterate::Checkpoint& checkpoint) {
  checkpoint.by_rank["f"].assign(result.f.begin(), result.f.end());
  checkpoint.shared["g"].assign(result.g.begin(), result.g.end());
}

template <class A>
void resume(const iterate::Checkpoint& checkpoint, Transport<A>& result) {
  take(checkpoint.by_rank, "f", "potentials of rows", std::span(result.f));
  take(checkpoint.shared, "g", "potentials of columns", std::span(result.g));
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
        expect_start(start, std::span<const double>(reached_[k].columns), "potential",
                     -std::numeric_limits<A>::infinity());
        results_.push_back(beginning(reached_[k], start));
        lost_rows.push_back(lost_of(masses[k].rows, reached_[k].rows, options.rho.rows));
      }
      if (from_ == nullptr) return;
      so_far_ = stages_of(*from_, options.epsilon);
      resume(*from_, results_.front());
      results_.front().stages = so_far_.ended;
    });
    mpi::all_reduce(context.comm(), std::span<Index>(lost_rows), mpi::Operation::sum());
    mpi::agreed(context, [&] {
      const auto none = beyond_range<A>(highest, options.epsilon);
      for (std::size_t k = 0; k < results_.size(); ++k) {
        auto why = out_of_reach(lost_rows[k], masses[k], reached_[k], options.rho);
        if (!why) why = none;
        if (!why) {
          active_.push_back(k);
          continue;
        }
        results_[k].outcome = std::move(*why);
        results_[k].stages.push_back({options.epsilon, 0, Domain::logarithmic});
        make_none(results_[k]);
      }
    });
  }

  [[nodiscard]] std::vector<Transport<A>> to_the_end() && {
    double epsilon =
        from_ != nullptr ? so_far_.epsilon : first_epsilon(options_.first_epsilon, highest_, options_.epsilon);
    while (!active_.empty()) {
      for (const std::size_t k : active_) {
        if (from_ == nullptr) in_units(results_[k], 1 / epsilon);
      }
      stage(epsilon);
      end_or_go_on(epsilon);
      epsilon = next_epsilon(epsilon, options_.epsilon);
    }
    return std::move(results_);
  }

 private:
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

  static void in_units(Transport<A>& result, double factor) {
    for (std::vector<A>* potentials : {&result.f, &result.g}) {
      for (A& potential : *potentials) potential = static_cast<A>(static_cast<double>(potential) * factor);
    }
  }

  [[nodiscard]] Limits limits_of(double epsilon, Domain domain) {
    const Transport<A>& first = results_.front();
    Limits limits = limits_of_stage(options_.limits, options_.epsilon, {first.stages, epsilon, domain},
                                    [&first](iterate::Checkpoint& checkpoint) { save(first, checkpoint); });
    limits.checkpoints.from = std::exchange(from_, nullptr);
    return limits;
  }

  /// By factors, and by logarithms for whom these leave the range of numbers.
  void stage(double epsilon) {
    Domain domain = from_ != nullptr ? so_far_.domain : options_.domain;
    if (domain == Domain::automatic) {
      domain = highest_ / epsilon <= widest_factors<A> ? Domain::factors : Domain::logarithmic;
    }
    mpi::agreed(context_, [&] { costs_.set_epsilon(epsilon, active_.size()); });
    const Stage<A> stage{
        costs_,
        {relaxed_exponent(options_.rho.rows, epsilon), relaxed_exponent(options_.rho.columns, epsilon)},
        highest_ / epsilon};
    auto left = mpi::agreed(context_, [this] { return active_; });
    for (const Domain by : {Domain::factors, Domain::logarithmic}) {
      if (left.empty() || (by == Domain::factors && domain != by)) continue;
      Limits limits;
      std::vector<StageProblem<A>> problems;
      mpi::agreed(context_, [&] {
        limits = limits_of(epsilon, by);
        problems.reserve(left.size());
        for (const std::size_t k : left) problems.push_back({reached_[k], results_[k].f, results_[k].g});
      });
      auto found = by == Domain::factors ? stage_by_factors<A>(context_, stage, problems, limits)
                                         : stage_by_logarithms<A>(context_, stage, problems, limits);
      mpi::agreed(context_, [&] {
        std::vector<std::size_t> failed;
        for (std::size_t n = 0; n < left.size(); ++n) {
          if (!found[n] && options_.domain == Domain::factors) {
            found[n] = Outcome{Status::numerical_limit,
                               "exponentials of the costs left the range of numbers; the logarithmic domain has none",
                               0, infinity};
          }
          if (!found[n]) {
            failed.push_back(left[n]);
            continue;
          }
          results_[left[n]].stages.push_back({epsilon, found[n]->iterations, by});
          results_[left[n]].outcome = std::move(*found[n]);
        }
        left = std::move(failed);
      });
    }
  }

  void end_or_go_on(double epsilon) {
    std::vector<PlanToEvaluate<A>> ended;
    std::vector<std::size_t> with_plan;
    std::vector<std::size_t> go_on;
    mpi::agreed(context_, [&] {
      for (const std::size_t k : active_) {
        const Outcome& outcome = results_[k].outcome;
        if (outcome.status == Status::numerical_limit && !std::isfinite(outcome.error)) {
          make_none(results_[k]);
          continue;
        }
        with_plan.push_back(k);
        if (epsilon <= options_.epsilon || outcome.status == Status::no_support ||
            outcome.status == Status::infeasible_marginals) {
          ended.push_back({&masses_[k], &results_[k]});
        } else {
          go_on.push_back(k);
        }
      }
    });
    evaluate_plans<A>(context_, costs_, ended, epsilon, options_.rho);
    for (const std::size_t k : with_plan) in_units(results_[k], epsilon);
    active_ = std::move(go_on);
  }

  mpi::Context& context_;
  CostOperand<A>& costs_;
  std::span<const CheckedMarginals> masses_;  // that were given
  double highest_;
  const TransportOptions& options_;
  const iterate::Checkpoint* from_;  // until the stage under way has begun
  StagesSoFar so_far_;               // that it tells of
  std::vector<CheckedMarginals> reached_;
  std::vector<Transport<A>> results_;  // potentials in the costs' unit between stages
  std::vector<std::size_t> active_;    // those that have not ended
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
