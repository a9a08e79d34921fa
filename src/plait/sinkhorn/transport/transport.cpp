#include "plait/sinkhorn/transport/transport.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "plait/base/memory.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"
#include "plait/sinkhorn/costs/stored_costs.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/transport/checks.hpp"
#include "plait/sinkhorn/transport/reduced_costs.hpp"
#include "plait/sinkhorn/transport/stages.hpp"
#include "plait/sinkhorn/transport/transports.hpp"

namespace plait::sinkhorn {

namespace {

/// Whether to try without larger epsilons on the way, which plain problems do not need where factors are numbers.
template <class A>
bool may_be_direct(const TransportOptions& options, double highest) {
  return options.rho.is_balanced() && options.domain != Domain::logarithmic &&
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

TransportOptions without_checkpoints(const TransportOptions& given) {
  TransportOptions options = given;
  options.limits.checkpoints = {};
  return options;
}

/// What problems with the same stored costs have in common.
template <class T, class A>
struct StoredProblems {
  std::vector<CheckedMarginals> masses;
  double highest = 0;
  std::optional<ReducedCosts<T>> reduced;
  std::optional<StoredCosts<T, A>> costs;

  [[nodiscard]] std::vector<Transport<A>> solve(mpi::Context& context, std::span<const CheckedMarginals> some,
                                                const TransportOptions& options, std::span<const A> start = {}) {
    auto found = transports_of<A>(context, *costs, some, reduced ? reduced->highest : highest, options, start);
    if (reduced) undo_reduction<T, A>(context, *reduced, some, found);
    return found;
  }
};

template <class T, class A>
StoredProblems<T, A> stored_problems(mpi::Context& context, matrix_view<const T> costs,
                                     std::span<const Marginals> marginals, const TransportOptions& options) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    expect_suitable(options, arguments);
    expect_row_major(costs);
  });
  StoredProblems<T, A> problems;
  problems.masses =
      checked_marginals_of_each(context, costs.rows(), costs.columns(), marginals, totals_of(options.rho));
  problems.highest = check_costs<T>(context, costs, required_masses(context, problems.masses, options.rho));
  problems.reduced = reduced_costs<T, A>(context, costs, problems.highest, options);
  problems.costs.emplace(problems.reduced ? problems.reduced->costs : costs, context.topology().threads());
  return problems;
}

/// Of one problem or several.
template <class A>
std::vector<Transport<A>> between_points(mpi::Context& context, const PointClouds<A>& clouds,
                                         std::span<const Marginals> marginals, const TransportOptions& options,
                                         std::span<const A> start) {
  const double highest = checked_highest_cost<A>(context, clouds, options);
  const auto masses =
      checked_marginals_of_each(context, clouds.x.rows(), clouds.y.rows(), marginals, totals_of(options.rho));
  expect_points<A>(context, clouds, masses, options.rho);
  const auto costs = mpi::agreed(context, [&] { return point_costs<A>(clouds, context.topology().threads()); });
  TransportOptions how = options;
  how.domain = Domain::logarithmic;
  return transports_of<A>(context, *costs, masses, highest, how, start);
}

}  // namespace

template <class T, class A>
Transport<A> transport(mpi::Context& context, matrix_view<const T> costs, const Marginals& marginals,
                       const TransportOptions& options, std::span<const A> start) {
  auto problems = stored_problems<T, A>(context, costs, {&marginals, 1}, options);
  return std::move(problems.solve(context, problems.masses, options, start).front());
}

template <class T, class A>
std::vector<Transport<A>> transport_batch(mpi::Context& context, matrix_view<const T> costs,
                                          std::span<const Marginals> marginals, const TransportOptions& given) {
  const TransportOptions options = without_checkpoints(given);
  expect_as_many(context, marginals.size());
  auto problems = stored_problems<T, A>(context, costs, marginals, options);
  if (problems.reduced || !may_be_direct<A>(options, problems.highest)) {
    return problems.solve(context, problems.masses, options);
  }
  auto results = problems.solve(context, problems.masses, directly(options));
  std::vector<std::size_t> left;
  std::vector<CheckedMarginals> masses_left;
  mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (has_plan(results[k])) continue;
      left.push_back(k);
      masses_left.push_back(problems.masses[k]);
    }
  });
  auto others = problems.solve(context, masses_left, options);
  for (std::size_t n = 0; n < left.size(); ++n) results[left[n]] = std::move(others[n]);
  return results;
}

template <class A>
Transport<A> transport(mpi::Context& context, const PointClouds<A>& clouds, const Marginals& marginals,
                       const TransportOptions& options, std::span<const A> start) {
  return std::move(between_points<A>(context, clouds, {&marginals, 1}, options, start).front());
}

template <class A>
std::vector<Transport<A>> transport_batch(mpi::Context& context, const PointClouds<A>& clouds,
                                          std::span<const Marginals> marginals, const TransportOptions& given) {
  expect_as_many(context, marginals.size());
  return between_points<A>(context, clouds, marginals, without_checkpoints(given), {});
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(T, A)                                                                                       \
  template Transport<A> transport(mpi::Context&, matrix_view<const T>, const Marginals&, const TransportOptions&,     \
                                  std::span<const A>);                                                                \
  template std::vector<Transport<A>> transport_batch(mpi::Context&, matrix_view<const T>, std::span<const Marginals>, \
                                                     const TransportOptions&)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

#define PLAIT_INSTANTIATE(A)                                                                                           \
  template Transport<A> transport(mpi::Context&, const PointClouds<A>&, const Marginals&, const TransportOptions&,     \
                                  std::span<const A>);                                                                 \
  template std::vector<Transport<A>> transport_batch(mpi::Context&, const PointClouds<A>&, std::span<const Marginals>, \
                                                     const TransportOptions&)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::sinkhorn
