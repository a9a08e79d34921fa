
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

namespace plait::sinkhorn {

namespace {

/// Costs less the least of their row, then less what is left of the least of their column: the same plans, where
/// potentials of that side take up any number. Only sides whose sums must not be missed have such.
template <class T>
struct ReducedCosts {
  Array<T> memory;
  matrix_view<const T> costs;  // in the memory
  double highest = 0;          // of these
  CostOffsets offsets;
};

/// Calls f(i, j, cost) for each that is finite.
template <class T, class F>
void for_each_finite(matrix_view<T> costs, const F& f) {
  for (Index i = 0; i < costs.rows(); ++i) {
    for (Index j = 0; j < costs.columns(); ++j) {
      if (std::isfinite(costs(i, j))) f(static_cast<std::size_t>(i), static_cast<std::size_t>(j), costs(i, j));
    }
  }
}

/// In the matrix, whose rows are a rank's: what was taken off. Where there is nothing but infinite costs, nothing is.
template <class T>
CostOffsets reduce(mpi::Context& context, matrix_view<T> costs, const Rho& rho) {
  CostOffsets offsets;
  mpi::agreed(context, [&] {
    offsets.rows.resize(static_cast<std::size_t>(costs.rows()), infinity);
    offsets.columns.resize(static_cast<std::size_t>(costs.columns()), infinity);
  });
  for (const bool are_rows : {true, false}) {
    std::vector<double>& least = are_rows ? offsets.rows : offsets.columns;
    const auto of = [&](std::size_t i, std::size_t j) -> double& { return least[are_rows ? i : j]; };
    if ((are_rows ? rho.rows : rho.columns) == infinity) {
      for_each_finite(costs, [&](std::size_t i, std::size_t j, T cost) {
        of(i, j) = std::min(of(i, j), static_cast<double>(cost));
      });
    }
    if (!are_rows) mpi::all_reduce(context.comm(), std::span<double>(least), mpi::Operation::minimum());
    for (double& one : least) one = one == infinity ? 0 : one;
    for_each_finite(costs, [&](std::size_t i, std::size_t j, T& cost) {
      cost = static_cast<T>(static_cast<double>(cost) - of(i, j));
    });
  }
  return offsets;
}

/// The reduced costs, where costs are beyond the range of numbers as they are (see `beyond_range`), or round to 1e-3
/// epsilons and more, and reduced ones are not, or are much smaller. Collective.
/// \param highest  no cost but infinite ones is larger, or less than minus that
/// \throws OutOfMemory  on all ranks, where one has no room for them
template <class T, class A>
std::optional<ReducedCosts<T>> reduced_costs(mpi::Context& context, matrix_view<const T> costs, double highest,
                                             const TransportOptions& options) {
  // In epsilons, what plans suffer from it.
  constexpr double fine_rounding = 1e-3;
  const bool is_beyond = beyond_range<A>(highest, options.epsilon).has_value();
  const bool is_coarse = highest / options.epsilon * roundoff_of<A>() > fine_rounding;
  const bool may_be_reduced = options.rho.rows == infinity || options.rho.columns == infinity;
  if (!may_be_reduced || (!is_beyond && !is_coarse)) return std::nullopt;
  ReducedCosts<T> reduced;
  matrix_view<T> own;
  Index left_range = 0;
  mpi::agreed(context, [&] {
    reduced.memory = Array<T>(costs.rows() * costs.columns());
    own = {reduced.memory.data(), costs.rows(), costs.columns(), std::max<Index>(costs.columns(), 1),
           StorageOrder::row_major};
    for (Index i = 0; i < costs.rows(); ++i) {
      for (Index j = 0; j < costs.columns(); ++j) left_range += std::isfinite(own(i, j) = costs(i, j)) ? 1 : 0;
    }
  });
  reduced.offsets = reduce(context, own, options.rho);
  // A difference of finite costs may be no finite one.
  for_each_finite(own, [&](std::size_t, std::size_t, T cost) {
    --left_range;
    reduced.highest = std::max(reduced.highest, std::abs(static_cast<double>(cost)));
  });
  if (left_range > 0) reduced.highest = infinity;
  reduced.highest = mpi::all_reduce(context.comm(), reduced.highest, mpi::Operation::maximum());
  constexpr double worth_while = 16;
  const bool helps =
      is_beyond ? !beyond_range<A>(reduced.highest, options.epsilon) : reduced.highest <= highest / worth_while;
  if (!helps) return std::nullopt;
  reduced.costs = own;
  return reduced;
}

/// Makes values of transports between reduced costs those of transports between the costs that were given. Collective.
template <class T, class A>
void undo_reduction(mpi::Context& context, const ReducedCosts<T>& reduced, std::span<const CheckedMarginals> masses,
                    std::span<Transport<A>> found) {
  std::vector<double> taken_off;
  mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < found.size(); ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < masses[k].rows.size(); ++i) sum += reduced.offsets.rows[i] * masses[k].rows[i];
      taken_off.push_back(sum);
      found[k].offsets = reduced.offsets;
    }
  });
  mpi::all_reduce(context.comm(), std::span<double>(taken_off), mpi::Operation::sum());
  for (std::size_t k = 0; k < found.size(); ++k) {
    for (std::size_t j = 0; j < masses[k].columns.size(); ++j) {
      taken_off[k] += reduced.offsets.columns[j] * masses[k].columns[j];
    }
    for (double* const value : {&found[k].cost, &found[k].primal, &found[k].dual}) *value += taken_off[k];
  }
}

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
    expect_row_major(costs, "the costs are");
  });
  StoredProblems<T, A> problems;
  problems.masses =
      checked_marginals_of_each(context, costs.rows(), costs.columns(), marginals, totals_of(options.rho));
  problems.highest = check_costs<T>(context, costs, required_masses(context, problems.masses, options.rho));
  problems.reduced = reduced_costs<T, A>(context, costs, problems.highest, options);
  problems.costs.emplace(problems.reduced ? problems.reduced->costs : costs, context.topology().threads());
  return problems;
}

/// \throws ArgumentError  on all ranks: masses that can be at no points, of the first such problem. Collective
void expect_points(mpi::Context& context, Index points_of_y, std::span<const CheckedMarginals> masses, const Rho& rho) {
  FirstFailure failure(masses.size());
  failure.check_each(context, [&](std::size_t k) {
    if (!rho.is_balanced() || masses[k].total == 0 || (points_of_y > 0 && masses[k].all_rows > 0)) return;
    throw ArgumentError(fmt::format("{} points of X are to give {} to {} points of Y, expected some of both",
                                    masses[k].all_rows, masses[k].total, points_of_y));
  });
  failure.expect_none(context);
}

/// Of one problem or several.
template <class A>
std::vector<Transport<A>> between_points(mpi::Context& context, const PointClouds<A>& clouds,
                                         std::span<const Marginals> marginals, const TransportOptions& options,
                                         std::span<const A> start) {
  const double highest = checked_highest_cost<A>(context, clouds, options);
  const auto masses =
      checked_marginals_of_each(context, clouds.x.rows(), clouds.y.rows(), marginals, totals_of(options.rho));
  expect_points(context, clouds.y.rows(), masses, options.rho);
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
