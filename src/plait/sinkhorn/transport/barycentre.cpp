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
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/transport/projections.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

namespace plait::sinkhorn {

namespace {

double mass_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void expect_histograms(const Histograms& histograms, Index columns, mpi::Alike& arguments) {
  arguments.numbers("histogram");
  for (std::size_t k = 0; k < histograms.masses.size(); ++k) {
    arguments.add("digest", digest_of(histograms.masses[k]), static_cast<Index>(k));
  }
  for (std::size_t k = 0; k < histograms.weights.size(); ++k) {
    arguments.add("weight", histograms.weights[k], static_cast<Index>(k));
  }
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

/// The mass of all is one number beside.
BarycentrePlans plans_of(const Histograms& histograms, Index rows, double highest) {
  const std::size_t count = histograms.masses.size();
  BarycentrePlans plans;
  plans.weights.assign(histograms.weights.begin(), histograms.weights.end());
  if (plans.weights.empty()) plans.weights.assign(count, 1 / static_cast<double>(count));
  for (std::size_t k = 0; k < count; ++k) {
    const double own = mass_of(histograms.masses[k]);
    for (const double mass : histograms.masses[k]) {
      plans.masses.push_back(own > 0 ? mass / own : 0);
      plans.shares.push_back(plans.weights[k] * plans.masses.back());
    }
  }
  // So low that no first sum overflows, whatever the signs of costs.
  plans.g.assign(plans.masses.size(), -highest);
  plans.barycentre.resize(static_cast<std::size_t>(rows));
  plans.f.resize(count * plans.rows());
  return plans;
}

std::string beyond_factors(double highest, double epsilon) {
  if (highest <= widest_factors<double> * epsilon) {
    return "factors left the range of numbers; the logarithmic domain has none";
  }
  return fmt::format(
      "epsilon is {}, expected {:.3g} at least, {} of the largest cost: exponentials of smaller ones leave the range "
      "of "
      "numbers; the logarithmic domain has none",
      epsilon, highest / widest_factors<double>, 1 / widest_factors<double>);
}

/// What there is where there is no barycentre.
Barycentre without(Outcome outcome, Barycentre result, const BarycentrePlans& plans) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  result.outcome = std::move(outcome);
  result.masses.assign(plans.rows(), nan);
  result.costs.assign(plans.count(), nan);
  return result;
}

/// \param highest  no cost but infinite ones is larger, or less than minus that
Barycentre barycentre_of(mpi::Context& context, CostOperand<double>& costs, const Histograms& histograms,
                         double highest, const TransportOptions& options) {
  const double last = options.epsilon;
  Barycentre result;
  BarycentrePlans plans;
  mpi::agreed(context, [&] { plans = plans_of(histograms, costs.rows(), highest); });
  if (auto beyond = beyond_range<double>(highest, last)) {
    return mpi::agreed(context, [&] { return without(std::move(*beyond), std::move(result), plans); });
  }
  Stages stages = mpi::agreed(context, [&] {
    Stages begun(options, highest);
    if (begun.resumed() != nullptr) plans.resume(*begun.resumed());
    result.stages = begun.ended();
    return begun;
  });
  const auto limits_of = [&](Domain domain) {
    return stages.limits(domain, result.stages, [&plans](iterate::Checkpoint& checkpoint) { plans.save(checkpoint); });
  };
  const bool is_narrow = highest <= widest_factors<double> * last;
  const Domain domain = stages.resumed() != nullptr           ? stages.resumed_domain()
                        : options.domain != Domain::automatic ? options.domain
                        : is_narrow                           ? Domain::factors
                                                              : Domain::logarithmic;
  std::optional<Outcome> found;
  if (domain == Domain::factors && is_narrow) {
    stages.go_to_last();
    mpi::agreed(context, [&] { costs.set_epsilon(last, 1); });
    found = project_by_factors(context, costs, plans, limits_of(Domain::factors));
    if (found) {
      result.stages.push_back({last, found->iterations, Domain::factors});
    } else {
      stages.begin_again();
    }
  }
  if (!found && options.domain == Domain::factors) {
    found = {Status::numerical_limit, beyond_factors(highest, last), 0, infinity};
  }
  while (!found) {
    const double epsilon = stages.epsilon();
    if (stages.resumed() == nullptr) plans.multiply_potentials(1 / epsilon);
    mpi::agreed(context, [&] { costs.set_epsilon(epsilon, plans.count(), plans.count()); });
    Outcome outcome = project_by_logarithms(context, costs, plans, highest / epsilon, limits_of(Domain::logarithmic));
    result.stages.push_back({epsilon, outcome.iterations, Domain::logarithmic});
    if (stages.is_last() || !std::isfinite(outcome.error)) {
      found = std::move(outcome);
    } else {
      plans.multiply_potentials(epsilon);
      stages.next();
    }
  }
  if (!std::isfinite(found->error)) {
    return mpi::agreed(context, [&] { return without(std::move(*found), std::move(result), plans); });
  }
  const double total = mass_of(histograms.masses.front());
  mpi::agreed(context, [&] {
    result.masses.resize(plans.rows());
    for (std::size_t k = 0; k < plans.count(); ++k) {
      result.costs.push_back(total * costs.sum_up(plans.of(k, plans.f), plans.of(k, plans.g), result.masses, {}).cost);
    }
    result.masses = plans.barycentre;
  });
  for (double& mass : result.masses) mass *= total;
  mpi::all_reduce(context.comm(), std::span<double>(result.costs), mpi::Operation::sum());
  result.outcome = std::move(*found);
  return result;
}

}  // namespace

template <class T>
Barycentre barycentre(mpi::Context& context, matrix_view<const T> costs, const Histograms& histograms,
                      const TransportOptions& options) {
  const Index columns = mpi::all_reduce(context.comm(), costs.columns(), mpi::Operation::maximum());
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    expect_suitable(options, arguments);
    expect_row_major(costs, "the costs are");
    if (costs.columns() != columns) {
      throw ArgumentError(
          fmt::format("this rank's rows have {} columns, those of others {}", costs.columns(), columns));
    }
    expect_histograms(histograms, columns, arguments);
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
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    expect_histograms(histograms, clouds.y.rows(), arguments);
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
