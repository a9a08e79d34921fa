#include "plait/sinkhorn/transport/transport.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/costs/stored_costs.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/sweep/log_sweep.hpp"
#include "plait/sinkhorn/sweep/update.hpp"
#include "plait/sinkhorn/transport/transport_iterations.hpp"
#include "plait/sinkhorn/transport/transport_stage.hpp"

namespace plait::sinkhorn {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

/// Σ p log(p / q) - p + q of one pair; q = 0 has p = 0.
double divergence(double p, double q) { return p > 0 && q > 0 ? p * std::log(p / q) - p + q : q; }

/// What a potential, in units of epsilon, adds to the dual value, in the same units. `rho` is in these, too.
double dual_term(double potential, double marginal, double rho) {
  if (marginal == 0) return 0;
  if (rho == infinity) return potential * marginal;
  // Where nothing is moved the potential has no upper bound.
  return potential == -infinity ? rho * marginal : -rho * marginal * std::expm1(-potential / rho);
}

/// The masses that a plan must have.
CheckedMarginals those_that_are_had(mpi::Context& context, const CheckedMarginals& masses, const Rho& rho) {
  auto had = mpi::agreed(context, [&] { return masses; });
  if (rho.rows < infinity) std::ranges::fill(had.rows, 0.0);
  if (rho.columns < infinity) std::ranges::fill(had.columns, 0.0);
  return had;
}

/// Why there is no plan, where some that must not be missed are out of reach.
std::optional<Outcome> out_of_reach(mpi::Context& context, const CheckedMarginals& masses,
                                    const CheckedMarginals& reached, const Rho& rho) {
  const auto lost = [](const std::vector<double>& wanted, const std::vector<double>& had, double of) {
    Index count = 0;
    for (std::size_t k = 0; k < wanted.size(); ++k) count += static_cast<Index>(wanted[k] > 0 && had[k] == 0);
    return of == infinity ? count : 0;
  };
  const Index rows = mpi::all_reduce(context.comm(), lost(masses.rows, reached.rows, rho.rows), mpi::Operation::sum());
  const Index columns = lost(masses.columns, reached.columns, rho.columns);
  if (rows + columns == 0) return std::nullopt;
  return Outcome{Status::infeasible_marginals,
                 fmt::format("{} {} that are to have a sum meet only what is forbidden or has none",
                             rows > 0 ? rows : columns, rows > 0 ? masses.names.rows() : masses.names.columns()),
                 0,
                 infinity,
                 {}};
}

double exponent(double rho, double epsilon) { return rho == infinity ? 1 : rho / (rho + epsilon); }

template <class A>
std::vector<A> as_numbers(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// Why there is no plan where costs, in units of epsilon, are no numbers.
template <class A>
std::optional<Outcome> beyond_range(double highest, double epsilon) {
  constexpr auto largest = static_cast<double>(std::numeric_limits<A>::max());
  if (1 / epsilon <= largest && highest / epsilon <= largest) {
    // Nothing comes of plans that are known to a factor of e^1000, however many stages lead to them.
    constexpr double most_epsilons = 1e3;
    const double rounding = highest / epsilon * roundoff_of<A>();
    if (rounding <= most_epsilons) return std::nullopt;
    return Outcome{Status::numerical_limit,
                   fmt::format("costs are as large as {:.3g}, which {} round to {:.3g} epsilons of {:.3g}; a larger "
                               "epsilon is needed",
                               highest, std::is_same_v<A, double> ? "doubles" : "floats", rounding, epsilon),
                   0,
                   infinity,
                   {}};
  }
  return Outcome{
      Status::numerical_limit,
      fmt::format("epsilon is {:.3g} and costs are as large as {:.3g}: in units of epsilon they are beyond the "
                  "range of {}; a larger epsilon is needed",
                  epsilon, highest, std::is_same_v<A, double> ? "double" : "float"),
      0,
      infinity,
      {}};
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

}  // namespace

template <class A>
void evaluate_plan(mpi::Context& context, CostOperand<A>& costs, const CheckedMarginals& masses, double epsilon,
                   const Rho& given_rho, Transport<A>& result) {
  const Rho rho{given_rho.rows / epsilon, given_rho.columns / epsilon};
  const std::vector<A>& g = result.g;
  auto columns =
      mpi::agreed(context, [&] { return std::vector<double>(rho.columns == infinity ? 0 : masses.columns.size()); });
  // Σ C P, Σ P, Σ (f + g) P, the dual terms and the divergence of this rank's rows
  std::array<double, 5> sums{};
  costs.for_each_row(result.f, g, [&](const PlanRow<A>& row) {
    const auto of_row = static_cast<double>(result.f[static_cast<std::size_t>(row.row)]);
    const double given = masses.rows[static_cast<std::size_t>(row.row)];
    double mass = 0;
    double potentials = 0;
    for (std::size_t j = 0; j < row.plan.size(); ++j) {
      const auto entry = static_cast<double>(row.plan[j]);
      if (entry == 0) continue;
      mass += entry;
      potentials += (of_row + static_cast<double>(g[j])) * entry;
      if (!columns.empty()) columns[j] += entry;
    }
    sums[0] += row.cost;
    sums[1] += mass;
    sums[2] += potentials;
    sums[3] += dual_term(of_row, given, rho.rows);
    sums[4] += rho.rows == infinity ? 0 : divergence(mass, given);
  });
  mpi::all_reduce(context.comm(), sums, mpi::Operation::sum());
  collective::allreduce(context, std::span<double>(columns), simd::ReduceOperation::sum);
  double dual = sums[3];
  for (std::size_t j = 0; j < g.size(); ++j)
    dual += dual_term(static_cast<double>(g[j]), masses.columns[j], rho.columns);
  for (std::size_t j = 0; j < columns.size(); ++j)
    result.column_divergence += divergence(columns[j], masses.columns[j]);
  result.row_divergence = sums[4];
  result.cost = sums[0];
  result.mass = sums[1];
  result.primal = epsilon * (sums[2] - sums[1]);
  if (rho.rows < infinity) result.primal += given_rho.rows * result.row_divergence;
  if (rho.columns < infinity) result.primal += given_rho.columns * result.column_divergence;
  result.dual = epsilon * (dual - sums[1]);
}

void expect_suitable(const TransportOptions& options) {
  expect_valid(options.limits);
  if (!(options.epsilon > 0) || !std::isfinite(options.epsilon)) {
    throw ArgumentError(fmt::format("epsilon is {}, expected a finite number > 0", options.epsilon));
  }
  if (options.first_epsilon != 0 && !(options.first_epsilon >= options.epsilon && options.first_epsilon < infinity)) {
    throw ArgumentError(fmt::format("the first epsilon is {}, expected a finite number >= {}, the last one",
                                    options.first_epsilon, options.epsilon));
  }
  for (const auto& [rho, of] : {std::pair{options.rho.rows, "rows"}, {options.rho.columns, "columns"}}) {
    if (rho > 0) continue;
    throw ArgumentError(fmt::format("rho of the {} is {}, expected a number > 0, infinity for none", of, rho));
  }
  expect_valid(Update{1, 1, options.over_relaxation});
  if (options.keep_every < 1) {
    throw ArgumentError(fmt::format("a state is kept every {} iterations, expected >= 1", options.keep_every));
  }
}

CheckedMarginals checked_masses_of(mpi::Context& context, Index rows, Index columns, const Marginals& marginals,
                                   const Rho& rho) {
  return rho.is_balanced() ? checked_marginals(context, rows, columns, marginals)
                           : checked_masses(context, rows, columns, marginals);
}

template <class A>
Transport<A> transport_of(mpi::Context& context, CostOperand<A>& costs, const CheckedMarginals& masses, double highest,
                          const TransportOptions& options, std::span<const A> start) {
  const CheckedMarginals checked = costs.reachable(context, masses);
  mpi::agreed(context, [&] { expect_potentials(start, std::span<const double>(checked.columns)); });

  // Within factors of 4 of the costs themselves little is gained.
  constexpr double wide = 40;
  constexpr double step = 0.25;
  double epsilon = options.first_epsilon;
  if (epsilon == 0) epsilon = highest > wide * options.epsilon ? highest / 10 : options.epsilon;
  epsilon = std::max(epsilon, options.epsilon);

  Transport<A> result;
  mpi::agreed(context, [&] {
    result.f.assign(static_cast<std::size_t>(costs.rows()), A{0});
    result.g.assign(static_cast<std::size_t>(costs.columns()), A{0});
    if (options.from != nullptr) expect_state(*options.from, result.f.size(), result.g.size(), options);
  });
  // Where nothing can be, not even the first sweep is to find something.
  for (std::size_t j = 0; j < result.g.size(); ++j) {
    if (checked.columns[j] == 0) {
      result.g[j] = -std::numeric_limits<A>::infinity();
    } else if (!start.empty()) {
      result.g[j] = start[j];
    }
  }
  auto none = out_of_reach(context, masses, checked, options.rho);
  if (!none) none = beyond_range<A>(highest, options.epsilon);
  if (none) {
    result.outcome = std::move(*none);
    result.stages.push_back({options.epsilon, 0, Domain::logarithmic});
    return without_plan(std::move(result));
  }
  const auto in_units = [&](std::vector<A>& potentials, double factor) {
    for (A& potential : potentials) potential = static_cast<A>(static_cast<double>(potential) * factor);
  };
  const TransportState* from = options.from;
  if (from != nullptr) {
    epsilon = from->epsilon;
    result.stages = from->stages;
    result.f = as_numbers<A>(from->f);
    result.g = as_numbers<A>(from->g);
  }
  while (true) {
    const bool is_last = epsilon <= options.epsilon;
    Limits limits = options.limits;
    if (!is_last) {
      constexpr double rough = 1e-2;
      constexpr Index few = 100;
      limits.tolerance = std::max(rough, limits.tolerance);
      limits.most_iterations = std::min(few, limits.most_iterations);
    }
    if (from == nullptr) {
      in_units(result.f, 1 / epsilon);
      in_units(result.g, 1 / epsilon);
    }
    Domain domain = from != nullptr ? from->domain : options.domain;
    if (domain == Domain::automatic) {
      domain = highest / epsilon <= widest_factors<A> ? Domain::factors : Domain::logarithmic;
    }
    mpi::agreed(context, [&] { costs.set_epsilon(epsilon); });
    const StageTask<A> stage{
        costs,
        checked,
        {exponent(options.rho.rows, epsilon), exponent(options.rho.columns, epsilon), options.over_relaxation},
        highest / epsilon};
    limits.checkpoints = {options.keep_every, {}, from != nullptr ? &from->scaling : nullptr};
    if (options.keep) {
      limits.checkpoints.keep = [&](const ScalingState& scaling) {
        options.keep({result.stages,
                      epsilon,
                      domain,
                      {result.f.begin(), result.f.end()},
                      {result.g.begin(), result.g.end()},
                      scaling});
      };
    }
    from = nullptr;
    std::optional<Outcome> outcome;
    if (domain == Domain::factors) {
      outcome = stage_by_factors<A>(context, stage, limits, result.f, result.g);
      if (!outcome && options.domain == Domain::factors) {
        outcome = Outcome{Status::numerical_limit,
                          "exponentials of the costs left the range of numbers; the logarithmic domain has none",
                          0,
                          std::numeric_limits<double>::infinity(),
                          {}};
      }
    }
    if (!outcome) {
      if (domain == Domain::factors) limits.checkpoints.from = nullptr;
      domain = Domain::logarithmic;
      outcome = stage_by_logarithms<A>(context, stage, limits, result.f, result.g);
    }
    result.stages.push_back({epsilon, outcome->iterations, domain});
    result.outcome = std::move(*outcome);
    const Status status = result.outcome.status;
    if (status == Status::numerical_limit && !std::isfinite(result.outcome.error))
      return without_plan(std::move(result));
    if (is_last || status == Status::no_support || status == Status::infeasible_marginals) break;
    in_units(result.f, epsilon);
    in_units(result.g, epsilon);
    epsilon = std::max(options.epsilon, epsilon * step);
  }
  evaluate_plan(context, costs, masses, epsilon, options.rho, result);
  in_units(result.f, epsilon);
  in_units(result.g, epsilon);
  return result;
}

template <class T, class A>
Transport<A> transport(mpi::Context& context, matrix_view<const T> costs, const Marginals& marginals,
                       const TransportOptions& options, std::span<const A> start) {
  mpi::agreed(context, [&] {
    expect_suitable(options);
    if (!costs.empty() && costs.order() != StorageOrder::row_major) {
      throw ArgumentError(
          "the costs are column-major, expected row-major: their transpose is, with marginals exchanged");
    }
  });
  const CheckedMarginals masses = checked_masses_of(context, costs.rows(), costs.columns(), marginals, options.rho);
  const double highest = check_costs<T>(context, costs, those_that_are_had(context, masses, options.rho));
  StoredCosts<T, A> stored(costs);
  return transport_of<A>(context, stored, masses, highest, options, start);
}

template <class A>
CheckedMarginals wanted_masses(mpi::Context& context, const Marginals& marginals, const Rho& rho, std::span<const A> f,
                               std::span<const A> g) {
  CheckedMarginals wanted =
      checked_masses(context, static_cast<Index>(f.size()), static_cast<Index>(g.size()), marginals);
  const auto relax = [](std::vector<double>& masses, double of, std::span<const A> potentials) {
    if (of == infinity) return;
    for (std::size_t k = 0; k < masses.size(); ++k) {
      const auto potential = static_cast<double>(potentials[k]);
      masses[k] = potential == -infinity ? 0 : masses[k] * std::exp(-potential / of);
    }
  };
  relax(wanted.rows, rho.rows, f);
  relax(wanted.columns, rho.columns, g);
  double of_rows = 0;
  for (const double mass : wanted.rows) of_rows += mass;
  wanted.total = mpi::all_reduce(context.comm(), of_rows, mpi::Operation::sum());
  return wanted;
}

template <class T, class A>
void for_each_plan_row(matrix_view<const T> costs, double epsilon, std::span<const A> f, std::span<const A> g,
                       const std::function<void(Index, std::span<const A>)>& visit) {
  const auto in_units = [epsilon](std::span<const A> potentials) {
    std::vector<A> units;
    for (const A potential : potentials) units.push_back(static_cast<A>(static_cast<double>(potential) / epsilon));
    return units;
  };
  LogSweep<T, A>(costs, epsilon).for_each_row(in_units(f), in_units(g), visit);
}

template <class T, class A>
void transport_plan_in_place(matrix_view<T> costs, double epsilon, std::span<const A> f, std::span<const A> g) {
  for_each_plan_row<T, A>(costs, epsilon, f, g, [&](Index i, std::span<const A> plan) {
    T* row = costs.data() + i * costs.leading_dimension();
    std::ranges::transform(plan, row, [](A entry) { return static_cast<T>(entry); });
  });
}

#define PLAIT_INSTANTIATE(T, A)                                                                                   \
  template Transport<A> transport(mpi::Context&, matrix_view<const T>, const Marginals&, const TransportOptions&, \
                                  std::span<const A>);                                                            \
  template void for_each_plan_row(matrix_view<const T>, double, std::span<const A>, std::span<const A>,           \
                                  const std::function<void(Index, std::span<const A>)>&);                         \
  template void transport_plan_in_place(matrix_view<T>, double, std::span<const A>, std::span<const A>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

template Transport<double> transport_of(mpi::Context&, CostOperand<double>&, const CheckedMarginals&, double,
                                        const TransportOptions&, std::span<const double>);
template Transport<float> transport_of(mpi::Context&, CostOperand<float>&, const CheckedMarginals&, double,
                                       const TransportOptions&, std::span<const float>);

template void evaluate_plan(mpi::Context&, CostOperand<double>&, const CheckedMarginals&, double, const Rho&,
                            Transport<double>&);
template void evaluate_plan(mpi::Context&, CostOperand<float>&, const CheckedMarginals&, double, const Rho&,
                            Transport<float>&);

template CheckedMarginals wanted_masses(mpi::Context&, const Marginals&, const Rho&, std::span<const double>,
                                        std::span<const double>);
template CheckedMarginals wanted_masses(mpi::Context&, const Marginals&, const Rho&, std::span<const float>,
                                        std::span<const float>);

}  // namespace plait::sinkhorn
