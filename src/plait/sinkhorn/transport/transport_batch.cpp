#include "plait/sinkhorn/transport/transport_batch.hpp"

#include <cmath>
#include <utility>

#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"
#include "plait/sinkhorn/costs/stored_costs.hpp"
#include "plait/sinkhorn/marginals/first_failure.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/transport/epsilon.hpp"
#include "plait/sinkhorn/transport/point_checks.hpp"
#include "plait/sinkhorn/transport/reduced_costs.hpp"
#include "plait/sinkhorn/transport/transport_checks.hpp"
#include "plait/sinkhorn/transport/transport_iterations.hpp"

namespace plait::sinkhorn {

namespace {

/// Whether to try without larger epsilons on the way, which plain problems do not need where factors are numbers.
template <class A>
bool may_be_direct(const TransportOptions& options, double highest) {
  return options.rho.is_balanced() && options.over_relaxation == 1 && options.domain != Domain::logarithmic &&
         (options.first_epsilon == 0 || options.first_epsilon == options.epsilon) &&
         highest / options.epsilon <= widest_factors<A>;
}

TransportOptions directly(TransportOptions options) {
  options.first_epsilon = options.epsilon;
  options.domain = Domain::factors;
  return options;
}

template <class A>
bool has_plan(const Transport<A>& found) {
  return found.outcome.status != Status::numerical_limit || std::isfinite(found.outcome.error);
}

/// A copy, as both are changed.
TransportOptions without_states(const TransportOptions& given) {
  TransportOptions options = given;
  options.keep = {};
  options.from = nullptr;
  return options;
}

}  // namespace

template <class T, class A>
std::vector<Transport<A>> transport_batch(mpi::Context& context, matrix_view<const T> costs,
                                          std::span<const Marginals> marginals, const TransportOptions& given) {
  const TransportOptions options = without_states(given);
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    expect_suitable(options, arguments);
    expect_row_major(costs);
  });
  expect_as_many(context, marginals.size());
  const auto masses = checked_masses_of_each(context, costs.rows(), costs.columns(), marginals, options.rho);
  const double highest = check_costs_of_each<T>(context, costs, masses_that_are_had(context, masses, options.rho));
  const auto reduced = reduced_costs<T, A>(context, costs, highest, options);
  StoredCosts<T, A> stored(reduced ? reduced->costs : costs);
  if (reduced) {
    auto results = transports_of<A>(context, stored, masses, reduced->highest, options, {});
    undo_reduction<T, A>(context, *reduced, masses, results);
    return results;
  }
  if (!may_be_direct<A>(options, highest)) return transports_of<A>(context, stored, masses, highest, options, {});

  auto results = transports_of<A>(context, stored, masses, highest, directly(options), {});
  std::vector<std::size_t> left;
  std::vector<CheckedMarginals> masses_left;
  mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (has_plan(results[k])) continue;
      left.push_back(k);
      masses_left.push_back(masses[k]);
    }
  });
  auto others = transports_of<A>(context, stored, masses_left, highest, options, {});
  for (std::size_t n = 0; n < left.size(); ++n) results[left[n]] = std::move(others[n]);
  return results;
}

template <class A>
std::vector<Transport<A>> transport_batch(mpi::Context& context, const PointClouds<A>& clouds,
                                          std::span<const Marginals> marginals, const TransportOptions& given) {
  TransportOptions options = without_states(given);
  options.domain = Domain::logarithmic;
  const double highest = checked_highest_cost<A>(context, clouds, given);
  expect_as_many(context, marginals.size());
  const auto masses = checked_masses_of_each(context, clouds.x.rows(), clouds.y.rows(), marginals, options.rho);
  FirstFailure failure(masses.size());
  expect_points_for_each<A>(context, clouds, masses, options.rho, failure);
  failure.expect_none_of_several(context);
  auto costs = mpi::agreed(context, [&] { return PointCosts<A>(clouds); });
  return transports_of<A>(context, costs, masses, highest, options, {});
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(T, A)                                                                                       \
  template std::vector<Transport<A>> transport_batch(mpi::Context&, matrix_view<const T>, std::span<const Marginals>, \
                                                     const TransportOptions&)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

template std::vector<Transport<double>> transport_batch(mpi::Context&, const PointClouds<double>&,
                                                        std::span<const Marginals>, const TransportOptions&);
template std::vector<Transport<float>> transport_batch(mpi::Context&, const PointClouds<float>&,
                                                       std::span<const Marginals>, const TransportOptions&);

}  // namespace plait::sinkhorn
