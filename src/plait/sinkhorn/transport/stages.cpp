#include "plait/sinkhorn/transport/stages.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

namespace plait::sinkhorn {

double relaxed_exponent(double rho, double epsilon) { return std::isinf(rho) ? 1 : rho / (rho + epsilon); }

namespace {

double first_epsilon(const TransportOptions& options, double highest) {
  if (options.first_epsilon > 0) return std::max(options.epsilon, options.first_epsilon);
  constexpr double wide = 40;
  return highest > wide * options.epsilon ? highest / 10 : options.epsilon;
}

}  // namespace

Stages::Stages(const TransportOptions& options, double highest)
    : options_(&options),
      first_(first_epsilon(options, highest)),
      epsilon_(first_),
      resumed_(options.limits.checkpoints.from) {
  if (resumed_ == nullptr) return;
  const auto number = [this](const char* name) {
    const auto found = resumed_->numbers.find(name);
    if (found == resumed_->numbers.end()) throw ArgumentError(fmt::format("the state has no {}", name));
    return found->second;
  };
  epsilon_ = number("epsilon");
  resumed_domain_ = static_cast<Domain>(number("domain"));
  if (epsilon_ >= options.epsilon) return;
  throw ArgumentError(fmt::format("the state has come to epsilon {}, expected {} at least", epsilon_, options.epsilon));
}

void Stages::next() {
  // Within factors of 4 of the costs themselves little is gained.
  constexpr double step = 0.25;
  epsilon_ = std::max(options_->epsilon, epsilon_ * step);
}

std::vector<TransportStage> Stages::ended() const {
  std::vector<TransportStage> stages;
  if (resumed_ == nullptr) return stages;
  const auto& numbers = iterate::vector_of(resumed_->shared, "stages");
  for (std::size_t k = 0; k + 2 < numbers.size(); k += 3) {
    stages.push_back({numbers[k], static_cast<Index>(numbers[k + 1]), static_cast<Domain>(numbers[k + 2])});
  }
  return stages;
}

Limits Stages::limits(Domain domain, const std::vector<TransportStage>& ended,
                      std::function<void(iterate::Checkpoint&)> put_potentials) {
  constexpr double rough = 1e-2;
  constexpr Index few = 100;
  Limits limits = options_->limits;
  if (!is_last()) {
    limits.tolerance = std::max(rough, limits.tolerance);
    // Not cut by the limit of the last stage: a run that is resumed with another one has come the same way.
    limits.most_iterations = limits.most_iterations > 0 ? few : 0;
  }
  limits.checkpoints.from = std::exchange(resumed_, nullptr);
  if (!limits.checkpoints.keep) return limits;
  limits.checkpoints.keep = [keep = std::move(limits.checkpoints.keep), put = std::move(put_potentials), ended, domain,
                             epsilon = epsilon_, is_last = is_last()](const iterate::Checkpoint& of_run) {
    iterate::Checkpoint checkpoint = of_run;
    checkpoint.numbers["epsilon"] = epsilon;
    checkpoint.numbers["domain"] = static_cast<double>(domain);
    if (!is_last) checkpoint.numbers["not limited"] = 1;
    std::vector<double>& stages = checkpoint.shared["stages"];
    for (const TransportStage& stage : ended) {
      stages.insert(stages.end(),
                    {stage.epsilon, static_cast<double>(stage.iterations), static_cast<double>(stage.domain)});
    }
    put(checkpoint);
    keep(checkpoint);
  };
  return limits;
}

namespace {

Outcome out_of_range(std::string reason) { return {Status::numerical_limit, std::move(reason), 0, infinity}; }

}  // namespace

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

/// All problems, with one epsilon after the other.
template <class A>
class Transports {
 public:
  Transports(mpi::Context& context, CostOperand<A>& costs, std::span<const CheckedMarginals> masses, double highest,
             const TransportOptions& options, std::span<const A> start)
      : context_(context), costs_(costs), highest_(highest), options_(options) {
    auto reached = costs.reachable(context, masses);
    std::vector<Index> lost_rows;
    mpi::agreed(context, [&](mpi::Alike& arguments) {
      problems_.reserve(masses.size());
      for (std::size_t k = 0; k < masses.size(); ++k) {
        expect_start(start, std::span<const double>(reached[k].columns), "potential",
                     -std::numeric_limits<A>::infinity(), arguments);
        lost_rows.push_back(lost_of(masses[k].rows, reached[k].rows, options.rho.rows));
        problems_.push_back({&masses[k], std::move(reached[k])});
        begin(problems_.back(), start);
      }
      stages_.emplace(options, highest);
      if (stages_->resumed() == nullptr) return;
      problems_.front().resume(*stages_->resumed());
      problems_.front().result.stages = stages_->ended();
    });
    mpi::all_reduce(context.comm(), std::span<Index>(lost_rows), mpi::Operation::sum());
    mpi::agreed(context, [&] {
      const auto none = beyond_range<A>(highest, options.epsilon);
      for (std::size_t k = 0; k < problems_.size(); ++k) {
        TransportProblem<A>& problem = problems_[k];
        auto why = out_of_reach(lost_rows[k], *problem.masses, problem.reached, options.rho);
        if (!why) why = none;
        if (!why) {
          active_.push_back(&problem);
          continue;
        }
        problem.result.outcome = std::move(*why);
        problem.result.stages.push_back({options.epsilon, 0, Domain::logarithmic});
        make_none(problem.result);
      }
    });
  }

  [[nodiscard]] std::vector<Transport<A>> to_the_end() && {
    for (; !active_.empty(); stages_->next()) {
      for (TransportProblem<A>* problem : active_) {
        if (stages_->resumed() == nullptr) problem->multiply_potentials(1 / stages_->epsilon());
      }
      stage();
      end_or_go_on();
    }
    return mpi::agreed(context_, [this] {
      std::vector<Transport<A>> results;
      for (TransportProblem<A>& problem : problems_) results.push_back(std::move(problem.result));
      return results;
    });
  }

 private:
  void begin(TransportProblem<A>& problem, std::span<const A> start) const {
    std::vector<A>& g = problem.result.g;
    problem.result.f.assign(static_cast<std::size_t>(costs_.rows()), A{0});
    g.assign(static_cast<std::size_t>(costs_.columns()), A{0});
    // Where nothing can be, not even the first sweep is to find something.
    for (std::size_t j = 0; j < g.size(); ++j) {
      if (problem.reached.columns[j] == 0) {
        g[j] = -std::numeric_limits<A>::infinity();
      } else if (!start.empty()) {
        g[j] = start[j];
      }
    }
  }

  static void make_none(Transport<A>& result) {
    constexpr A none = std::numeric_limits<A>::quiet_NaN();
    std::ranges::fill(result.f, none);
    std::ranges::fill(result.g, none);
    for (double* value : {&result.cost, &result.mass, &result.primal, &result.dual}) *value = static_cast<double>(none);
  }

  /// By factors, and by logarithms for whom these leave the range of numbers.
  void stage() {
    const double epsilon = stages_->epsilon();
    Domain domain = stages_->resumed() != nullptr ? stages_->resumed_domain() : options_.domain;
    if (domain == Domain::automatic) {
      domain = highest_ / epsilon <= widest_factors<A> ? Domain::factors : Domain::logarithmic;
    }
    mpi::agreed(context_, [&] { costs_.set_epsilon(epsilon, active_.size()); });
    Stage<A> stage{costs_,
                   {LogUpdate(relaxed_exponent(options_.rho.rows, epsilon)),
                    LogUpdate(relaxed_exponent(options_.rho.columns, epsilon))},
                   highest_ / epsilon,
                   mpi::agreed(context_, [this] { return active_; })};
    for (const Domain by : {Domain::factors, Domain::logarithmic}) {
      if (stage.problems.empty() || (by == Domain::factors && domain != by)) continue;
      const TransportProblem<A>& first = problems_.front();
      const Limits limits = mpi::agreed(context_, [&] {
        return stages_->limits(by, first.result.stages,
                               [&first](iterate::Checkpoint& checkpoint) { first.save(checkpoint); });
      });
      auto found = by == Domain::factors ? stage_by_factors<A>(context_, stage, limits)
                                         : stage_by_logarithms<A>(context_, stage, limits);
      mpi::agreed(context_, [&] {
        std::vector<TransportProblem<A>*> failed;
        for (std::size_t n = 0; n < found.size(); ++n) {
          if (!found[n] && options_.domain == Domain::factors) {
            found[n] =
                out_of_range("exponentials of the costs left the range of numbers; the logarithmic domain has none");
          }
          if (!found[n]) {
            failed.push_back(stage.problems[n]);
            continue;
          }
          Transport<A>& result = stage.problems[n]->result;
          result.stages.push_back({epsilon, found[n]->iterations, by});
          result.outcome = std::move(*found[n]);
        }
        stage.problems = std::move(failed);
      });
    }
  }

  void end_or_go_on() {
    std::vector<TransportProblem<A>*> ended;
    std::vector<TransportProblem<A>*> go_on;
    mpi::agreed(context_, [&] {
      for (TransportProblem<A>* problem : active_) {
        const Outcome& outcome = problem->result.outcome;
        if (outcome.status == Status::numerical_limit && !std::isfinite(outcome.error)) {
          make_none(problem->result);
        } else if (stages_->is_last() || outcome.status == Status::no_support ||
                   outcome.status == Status::infeasible_marginals) {
          ended.push_back(problem);
        } else {
          go_on.push_back(problem);
        }
      }
    });
    evaluate_plans<A>(context_, costs_, ended, stages_->epsilon(), options_.rho);
    for (const auto* with_plan : {&ended, &go_on}) {
      for (TransportProblem<A>* problem : *with_plan) problem->multiply_potentials(stages_->epsilon());
    }
    active_ = std::move(go_on);
  }

  mpi::Context& context_;
  CostOperand<A>& costs_;
  double highest_;
  const TransportOptions& options_;
  std::optional<Stages> stages_;
  std::vector<TransportProblem<A>> problems_;
  std::vector<TransportProblem<A>*> active_;  // those that have not ended
};

}  // namespace

template <class A>
std::vector<Transport<A>> transports_of(mpi::Context& context, CostOperand<A>& costs,
                                        std::span<const CheckedMarginals> masses, double highest,
                                        const TransportOptions& options, std::span<const A> start) {
  return Transports<A>(context, costs, masses, highest, options, start).to_the_end();
}

#define PLAIT_INSTANTIATE(A)                                                                                          \
  template std::vector<Transport<A>> transports_of(mpi::Context&, CostOperand<A>&, std::span<const CheckedMarginals>, \
                                                   double, const TransportOptions&, std::span<const A>)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
