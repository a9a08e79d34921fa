#include "plait/sinkhorn/transport/barycentre.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"
#include "plait/sinkhorn/costs/stored_costs.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/transport/bregman_projections.hpp"
#include "plait/sinkhorn/transport/checks.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

namespace plait::sinkhorn {

namespace {

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

/// With histograms of mass 1: the mass of all is one number beside.
BarycentrePlans plans_of(const Histograms& histograms, Index rows, double highest) {
  const std::size_t count = histograms.masses.size();
  BarycentrePlans plans;
  plans.weights.assign(histograms.weights.begin(), histograms.weights.end());
  if (plans.weights.empty()) plans.weights.assign(count, 1 / static_cast<double>(count));
  for (const auto masses : histograms.masses) {
    const double own = mass_of(masses);
    plans.masses.emplace_back(masses.begin(), masses.end());
    for (double& mass : plans.masses.back()) mass = own > 0 ? mass / own : 0;
  }
  plans.f.assign(count, std::vector<double>(static_cast<std::size_t>(rows)));
  for (std::size_t k = 0; k < count; ++k) {
    for (const double mass : plans.masses[k]) plans.shares.push_back(plans.weights[k] * mass);
  }
  // So low that no first sum overflows, whatever the signs of costs.
  plans.g.assign(count * histograms.masses.front().size(), -highest);
  plans.barycentre.resize(static_cast<std::size_t>(rows));
  return plans;
}

void in_units(BarycentrePlans& plans, double factor) {
  for (std::vector<double>& of_histogram : plans.f) {
    for (double& potential : of_histogram) potential *= factor;
  }
  for (double& potential : plans.g) potential *= factor;
}

/// By rows: the same whatever rows a rank has.
std::vector<double> potentials_of_rows(const BarycentrePlans& plans) {
  const std::size_t count = plans.f.size();
  std::vector<double> result(count * plans.barycentre.size());
  for (std::size_t n = 0; n < result.size(); ++n) result[n] = plans.f[n % count][n / count];
  return result;
}

/// Puts the potentials of a checkpoint back.
void take_potentials(const iterate::Checkpoint& from, BarycentrePlans& plans) {
  const std::size_t count = plans.f.size();
  const auto& f = vector_of(from.by_rank, "f", "potentials of rows", count * plans.barycentre.size());
  for (std::size_t n = 0; n < f.size(); ++n) plans.f[n % count][n / count] = f[n];
  take(from.shared, "g", "potentials of columns", std::span(plans.g));
}

Barycentre no_barycentre(Barycentre result, Outcome outcome, std::size_t rows, std::size_t histograms) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  result.outcome = std::move(outcome);
  result.masses.assign(rows, nan);
  result.costs.assign(histograms, nan);
  return result;
}

Outcome beyond_factors(double highest, double epsilon) {
  const bool is_wide = highest > widest_factors<double> * epsilon;
  return {Status::numerical_limit,
          is_wide
              ? fmt::format("epsilon is {}, expected {:.3g} at least, {} of the largest cost: exponentials of smaller "
                            "ones leave the range of numbers; the logarithmic domain has none",
                            epsilon, highest / widest_factors<double>, 1 / widest_factors<double>)
              : std::string("factors left the range of numbers; the logarithmic domain has none"),
          0, infinity};
}

/// Masses of the barycentre, and what its plans cost.
void evaluate(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans, double total,
              Barycentre& result) {
  mpi::agreed(context, [&] {
    result.masses.resize(plans.barycentre.size());
    for (std::size_t k = 0; k < plans.masses.size(); ++k) {
      result.costs.push_back(total * costs.sum_up(plans.f[k], plans.g_of(k), result.masses, {}).cost);
    }
    result.masses = plans.barycentre;
  });
  for (double& mass : result.masses) mass *= total;
  mpi::all_reduce(context.comm(), std::span<double>(result.costs), mpi::Operation::sum());
}

/// \param highest  no cost but infinite ones is larger, or less than minus that
Barycentre barycentre_of(mpi::Context& context, CostOperand<double>& costs, const Histograms& histograms,
                         double highest, const TransportOptions& options) {
  const double total = mass_of(histograms.masses.front());
  const std::size_t together = histograms.masses.size();
  const double last = options.epsilon;
  Barycentre result;
  BarycentrePlans plans;
  mpi::agreed(context, [&] { plans = plans_of(histograms, costs.rows(), highest); });
  const auto without = [&](Outcome outcome) {
    return mpi::agreed(context, [&] {
      return no_barycentre(std::move(result), std::move(outcome), plans.barycentre.size(), histograms.masses.size());
    });
  };
  if (auto beyond = beyond_range<double>(highest, last)) return without(std::move(*beyond));
  const iterate::Checkpoint* from = options.limits.checkpoints.from;
  StagesSoFar so_far;
  mpi::agreed(context, [&] {
    if (from == nullptr) return;
    so_far = stages_of(*from, last);
    take_potentials(*from, plans);
    result.stages = so_far.ended;
  });
  const auto limits_of = [&](double epsilon, Domain domain) {
    Limits limits = limits_of_stage(options.limits, last, {result.stages, epsilon, domain},
                                    [&plans](iterate::Checkpoint& checkpoint) {
                                      checkpoint.by_rank["f"] = potentials_of_rows(plans);
                                      checkpoint.shared["g"] = plans.g;
                                    });
    limits.checkpoints.from = std::exchange(from, nullptr);
    return limits;
  };

  const bool is_narrow = highest <= widest_factors<double> * last;
  const bool was_by_logarithms = from != nullptr && so_far.domain == Domain::logarithmic;
  if (!was_by_logarithms && (options.domain == Domain::factors || (options.domain == Domain::automatic && is_narrow))) {
    std::optional<Outcome> outcome;
    if (is_narrow) {
      mpi::agreed(context, [&] { costs.set_epsilon(last, 1); });
      outcome = project_by_factors(context, costs, plans, limits_of(last, Domain::factors));
    }
    if (outcome) {
      result.stages.push_back({last, outcome->iterations, Domain::factors});
      result.outcome = std::move(*outcome);
      evaluate(context, costs, plans, total, result);
      return result;
    }
    if (options.domain == Domain::factors) return without(beyond_factors(highest, last));
    from = nullptr;
  }

  double epsilon = from != nullptr ? so_far.epsilon : first_epsilon(options.first_epsilon, highest, last);
  while (true) {
    if (from == nullptr) in_units(plans, 1 / epsilon);
    mpi::agreed(context, [&] { costs.set_epsilon(epsilon, together, together); });
    Outcome outcome =
        project_by_logarithms(context, costs, plans, highest / epsilon, limits_of(epsilon, Domain::logarithmic));
    result.stages.push_back({epsilon, outcome.iterations, Domain::logarithmic});
    if (!std::isfinite(outcome.error)) return without(std::move(outcome));
    if (epsilon <= last) {
      result.outcome = std::move(outcome);
      evaluate(context, costs, plans, total, result);
      return result;
    }
    in_units(plans, epsilon);
    epsilon = next_epsilon(epsilon, last);
  }
}

}  // namespace

template <class T>
Barycentre barycentre(mpi::Context& context, matrix_view<const T> costs, const Histograms& histograms,
                      const TransportOptions& options) {
  const Index columns = mpi::all_reduce(context.comm(), costs.columns(), mpi::Operation::maximum());
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    expect_suitable(options, arguments);
    expect_row_major(costs);
    if (costs.columns() != columns) {
      throw ArgumentError(
          fmt::format("this rank's rows have {} columns, those of others {}", costs.columns(), columns));
    }
    expect_histograms(histograms, columns);
  });
  CheckedMarginals reached = zero_marginals(context, costs.rows(), columns);
  for (const auto masses : histograms.masses) {
    for (std::size_t j = 0; j < masses.size(); ++j) reached.columns[j] = std::max(reached.columns[j], masses[j]);
  }
  const double highest = check_costs<T>(context, costs, {&reached, 1});
  StoredCosts<T, double> stored(costs, context.topology().threads());
  return barycentre_of(context, stored, histograms, highest, options);
}

Barycentre barycentre(mpi::Context& context, const PointClouds<double>& clouds, const Histograms& histograms,
                      const TransportOptions& options) {
  const double highest = checked_highest_cost<double>(context, clouds, options);
  const Index rows = mpi::all_reduce(context.comm(), clouds.x.rows(), mpi::Operation::sum());
  mpi::agreed(context, [&] {
    expect_histograms(histograms, clouds.y.rows());
    if (rows > 0 || mass_of(histograms.masses.front()) == 0) return;
    throw ArgumentError("there are no points of X, expected some for the mass of the barycentre");
  });
  const auto costs = mpi::agreed(context, [&] { return point_costs<double>(clouds, context.topology().threads()); });
  TransportOptions how = options;
  how.domain = Domain::logarithmic;
  return barycentre_of(context, *costs, histograms, highest, how);
}

template Barycentre barycentre(mpi::Context&, matrix_view<const double>, const Histograms&, const TransportOptions&);
template Barycentre barycentre(mpi::Context&, matrix_view<const float>, const Histograms&, const TransportOptions&);

}  // namespace plait::sinkhorn
