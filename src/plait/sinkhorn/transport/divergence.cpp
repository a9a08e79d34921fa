#include "plait/sinkhorn/transport/divergence.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/transport/stages.hpp"
#include "plait/sinkhorn/transport/symmetric_potentials.hpp"

namespace plait::sinkhorn {

namespace {

/// The three problems.
enum class Within : unsigned char { both, rows, columns };

/// A rank's share of the columns, as if they were rows.
struct Part {
  std::size_t first = 0;
  std::size_t count = 0;
};

template <class T>
void expect_shape(std::string_view what, matrix_view<const T> costs, Index all_rows, Index expected) {
  if (all_rows == expected && costs.columns() == expected) return;
  throw ArgumentError(fmt::format("the costs among the {} are {} x {}, expected {} x {}", what, all_rows,
                                  costs.columns(), expected, expected));
}

/// Does what is asked of the costs among the points of one side, and names these where it fails.
template <class F>
decltype(auto) naming_side(std::string_view what, const F& f) {
  try {
    return f();
  } catch (const ArgumentError& error) {  // the same on all ranks
    throw ArgumentError(fmt::format("the costs among the {}: {}", what, error.what()));
  }
}

/// `transport` counts the entropy of a plan itself. It is beside that of the masses m at the same potentials, but for
/// epsilon log m, with m^(1 + epsilon / rho) as masses: the change of a potential by a mass is then what it is there.
template <class A>
std::vector<double> masses_of_transport(std::span<const double> masses, double rho, double epsilon,
                                        std::string_view what, Index first) {
  std::vector<double> powers(masses.begin(), masses.end());
  if (rho == infinity) return powers;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    if (masses[i] == 0) continue;
    powers[i] = std::pow(masses[i], 1 + epsilon / rho);
    if (powers[i] >= static_cast<double>(std::numeric_limits<A>::min()) &&
        powers[i] <= static_cast<double>(std::numeric_limits<A>::max())) {
      continue;
    }
    throw ArgumentError(
        fmt::format("rho is {} and epsilon {}: the mass {} of {} {} to the power 1 + epsilon / rho leaves the range of "
                    "numbers, expected a smaller epsilon or a larger rho",
                    rho, epsilon, masses[i], what, first + static_cast<Index>(i)));
  }
  return powers;
}

/// What a value of `transport` with these masses is above OT. Of the same masses it is the same in all transports.
double entropy_of(std::span<const double> masses, double rho, double epsilon) {
  double sum = 0;
  for (const double mass : masses) {
    if (mass == 0) continue;
    const double logarithm = std::log(mass);
    sum += mass * (rho == infinity ? epsilon * logarithm : rho * std::expm1(epsilon / rho * logarithm));
  }
  return sum;
}

/// \param own      the potential of a mass in the transport between both
/// \param within   that of the same mass within its own
/// \param entropy  what both have beside those of OT
double gradient_of(double own, double within, double entropy, double rho, double epsilon) {
  if (rho == infinity) return own - within;
  // What nothing is moved from has no upper bound of its potential.
  const auto term = [&](double potential) {
    return std::isinf(potential) ? -1.0 : std::expm1(-(potential - entropy) / rho);
  };
  return (rho + epsilon) * (term(within) - term(own));
}

/// The potentials of a transport from masses to themselves are those of both sides in the mean: where it is balanced,
/// any number may be taken from one side and given to the other.
template <class A>
std::vector<A> gradients(std::span<const A> between, std::span<const A> f, std::span<const A> g,
                         std::span<const double> masses, double rho, double epsilon) {
  std::vector<A> result;
  for (std::size_t i = 0; i < between.size(); ++i) {
    if (masses[i] == 0) {
      result.push_back(A{0});
      continue;
    }
    const double within = (static_cast<double>(f[i]) + static_cast<double>(g[i])) / 2;
    result.push_back(static_cast<A>(
        gradient_of(static_cast<double>(between[i]), within, epsilon * std::log(masses[i]), rho, epsilon)));
  }
  return result;
}

/// A transport from masses to themselves, by `solve` with options and a start.
template <class A, class Solve>
Transport<A> to_themselves(mpi::Context& context, CostOperand<A>& costs, const Marginals& masses,
                           TransportOptions options, const Solve& solve) {
  std::vector<TransportStage> stages;
  const std::vector<A> start = symmetric_potentials<A>(context, costs, masses, options, stages);
  if (!start.empty()) options.first_epsilon = options.epsilon;
  Transport<A> found = solve(options, std::span<const A>(start));
  found.stages.insert(found.stages.begin(), stages.begin(), stages.end());
  return found;
}

/// A value is what is left of those of the transports, and of what these are made of, the entropies of the plans among
/// it.
template <class A>
double rounding_of(std::initializer_list<const Transport<A>*> transports, double epsilon) {
  constexpr double roundings = 64;
  double largest = 0;
  for (const Transport<A>* each : transports) {
    largest = std::max({largest, std::abs(each->dual), epsilon * each->mass});
  }
  return roundings * roundoff_of<A>() * largest;
}

/// What is left where the first transport has no plan.
template <class A>
Divergence<A> without_plan_between(const Transport<A>& between) {
  Divergence<A> result;
  result.outcome = between.outcome;
  result.stages[0] = between.stages;
  for (double* value :
       {&result.value, &result.between, &result.rows, &result.columns, &result.gap, &result.rounding, &result.mass}) {
    *value = std::numeric_limits<double>::quiet_NaN();
  }
  result.row_gradient.assign(between.f.size(), std::numeric_limits<A>::quiet_NaN());
  result.column_gradient.assign(between.g.size(), std::numeric_limits<A>::quiet_NaN());
  return result;
}

/// Whether this rank's rows of one matrix are those of the other.
template <class T>
bool are_alike(matrix_view<const T> a, matrix_view<const T> b) {
  if (a.rows() != b.rows() || a.columns() != b.columns()) return false;
  for (Index i = 0; i < a.rows(); ++i) {
    const T* row = a.data() + i * a.leading_dimension();
    if (!std::equal(row, row + a.columns(), b.data() + i * b.leading_dimension())) return false;
  }
  return true;
}

/// The divergence by the transports that `solve` does.
///
/// \param are_alike  whether this rank's costs between both are those within the rows
template <class A>
Divergence<A> made_of_transports(
    mpi::Context& context, const CheckedMarginals& checked, const Part& own_columns, bool are_alike,
    const TransportOptions& given,
    const std::function<Transport<A>(Within, const Marginals&, const TransportOptions&)>& solve) {
  TransportOptions options = given;
  options.limits.checkpoints = {};
  const double rho = options.rho.rows;
  const double epsilon = options.epsilon;
  std::vector<double> of_rows;
  std::vector<double> of_columns;
  mpi::agreed(context, [&] {
    of_rows = masses_of_transport<A>(checked.rows, rho, epsilon, "row", checked.first_row);
    of_columns = masses_of_transport<A>(checked.columns, rho, epsilon, "column", 0);
  });
  const auto all_of_rows = mpi::gather_on_all(context.comm(), std::span<const double>(of_rows));
  const auto part_of_columns = std::span<const double>(of_columns).subspan(own_columns.first, own_columns.count);

  const int is_one = are_alike && all_of_rows == of_columns ? 1 : 0;
  const bool is_one_problem = mpi::all_reduce(context.comm(), is_one, mpi::Operation::minimum()) == 1;
  auto between = is_one_problem ? Transport<A>() : solve(Within::both, {of_rows, of_columns}, options);
  if (!is_one_problem) {
    if (!std::isfinite(between.dual)) return without_plan_between<A>(between);
    options.first_epsilon = between.stages.front().epsilon;
  }
  const auto rows = solve(Within::rows, {of_rows, all_of_rows}, options);
  if (is_one_problem) {
    if (!std::isfinite(rows.dual)) return without_plan_between<A>(rows);
    between = mpi::agreed(context, [&] { return rows; });
    between.stages.clear();
  }
  const auto columns = solve(Within::columns, {part_of_columns, of_columns}, options);

  Divergence<A> result;
  result.outcome = between.outcome;
  for (const Transport<A>* each : std::initializer_list<const Transport<A>*>{&between, &rows, &columns}) {
    if (result.outcome.status == Status::converged) result.outcome = each->outcome;
  }
  result.stages = {between.stages, rows.stages, columns.stages};
  if (result.outcome.status == Status::converged) result.outcome = between.outcome;
  const double entropy_of_rows =
      mpi::all_reduce(context.comm(), entropy_of(checked.rows, rho, epsilon), mpi::Operation::sum());
  const double entropy_of_columns = entropy_of(checked.columns, rho, epsilon);
  result.between = between.dual - entropy_of_rows - entropy_of_columns;
  result.rows = rows.dual - 2 * entropy_of_rows;
  result.columns = columns.dual - 2 * entropy_of_columns;
  result.value = between.dual - rows.dual / 2 - columns.dual / 2;
  result.gap = between.gap() - rows.gap() / 2 - columns.gap() / 2;
  result.rounding = rounding_of<A>({&between, &rows, &columns}, epsilon);
  result.mass = between.mass;
  const auto f_of_columns = mpi::gather_on_all(context.comm(), std::span<const A>(columns.f));
  mpi::agreed(context, [&] {
    const auto g_of_rows =
        std::span<const A>(rows.g).subspan(static_cast<std::size_t>(checked.first_row), rows.f.size());
    result.row_gradient = gradients<A>(between.f, rows.f, g_of_rows, checked.rows, rho, epsilon);
    result.column_gradient = gradients<A>(between.g, f_of_columns, columns.g, checked.columns, rho, epsilon);
  });
  return result;
}

/// The points of which each rank has some.
template <class A>
std::vector<A> all_points(mpi::Context& context, matrix_view<const A> own) {
  const auto numbers = mpi::agreed(context, [&] {
    std::vector<A> packed;
    packed.reserve(static_cast<std::size_t>(own.rows() * own.columns()));
    for (Index i = 0; i < own.rows(); ++i) {
      const A* point = own.data() + i * own.leading_dimension();
      packed.insert(packed.end(), point, point + own.columns());
    }
    return packed;
  });
  return mpi::gather_on_all(context.comm(), std::span<const A>(numbers));
}

void expect_one_rho(const TransportOptions& options, mpi::Alike& arguments) {
  expect_suitable(options, arguments);
  if (options.rho.rows == options.rho.columns) return;
  throw ArgumentError(
      fmt::format("rho of the rows is {}, that of the columns {}, expected one for both: masses are "
                  "transported to themselves, too",
                  options.rho.rows, options.rho.columns));
}

}  // namespace

template <class T, class A>
Divergence<A> divergence(mpi::Context& context, const CostsOfDivergence<T>& costs, const Marginals& marginals,
                         const TransportOptions& options) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    expect_one_rho(options, arguments);
    if (costs.rows.rows() != costs.between.rows()) {
      throw ArgumentError(fmt::format("this rank has {} rows of the costs among the rows, expected {}",
                                      costs.rows.rows(), costs.between.rows()));
    }
    for (const matrix_view<const T>* each : {&costs.rows, &costs.columns}) {
      expect_row_major(*each, "costs among the points of one side are");
    }
  });
  const CheckedMarginals checked =
      checked_marginals(context, costs.between.rows(), costs.between.columns(), marginals, totals_of(options.rho));
  const Index all_of_columns = mpi::all_reduce(context.comm(), costs.columns.rows(), mpi::Operation::sum());
  mpi::agreed(context, [&] {
    expect_shape("rows", costs.rows, checked.all_rows, checked.all_rows);
    expect_shape("columns", costs.columns, all_of_columns, costs.between.columns());
  });
  naming_side("rows", [&] { expect_symmetric<T>(context, costs.rows); });
  naming_side("columns", [&] { expect_symmetric<T>(context, costs.columns); });
  const Part own{static_cast<std::size_t>(mpi::sum_below(context.comm(), costs.columns.rows())),
                 static_cast<std::size_t>(costs.columns.rows())};
  return made_of_transports<A>(context, checked, own, are_alike(costs.between, costs.rows), options,
                               [&](Within within, const Marginals& masses, const TransportOptions& how) {
                                 if (within == Within::both)
                                   return transport<T, A>(context, costs.between, masses, how);
                                 const bool is_of_rows = within == Within::rows;
                                 const auto& of = is_of_rows ? costs.rows : costs.columns;
                                 return naming_side(is_of_rows ? "rows" : "columns", [&] {
                                   StoredCosts<T, A> stored(of, context.topology().threads());
                                   return to_themselves<A>(context, stored, masses, how,
                                                           [&](const TransportOptions& last, std::span<const A> start) {
                                                             return transport<T, A>(context, of, masses, last, start);
                                                           });
                                 });
                               });
}

template <class A>
Divergence<A> divergence(mpi::Context& context, const PointClouds<A>& clouds, const Marginals& marginals,
                         const TransportOptions& options) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<A>();
    expect_one_rho(options, arguments);
  });
  static_cast<void>(checked_highest_cost<A>(context, clouds, options));
  const CheckedMarginals checked =
      checked_marginals(context, clouds.x.rows(), clouds.y.rows(), marginals, totals_of(options.rho));
  const Index coordinates = clouds.y.columns();
  // Nodes of a grid are the same on both sides, and so is their distribution.
  const auto axis = layout::Axis::even(clouds.y.rows(), context.size());
  const Index count = clouds.grid ? clouds.x.rows() : axis.local_extent(context.rank());
  const Index first = clouds.grid ? checked.first_row : count == 0 ? 0 : axis.global_of(context.rank(), 0);
  const matrix_view<const A> own_y(clouds.y.data() + first * clouds.y.leading_dimension(), count, coordinates,
                                   clouds.y.leading_dimension(), StorageOrder::row_major);
  const Part own{static_cast<std::size_t>(first), static_cast<std::size_t>(count)};
  const bool is_one_cloud =
      clouds.x.rows() == 0 ||
      (checked.first_row + clouds.x.rows() <= clouds.y.rows() &&
       are_alike(clouds.x, matrix_view<const A>(clouds.y.data() + checked.first_row * clouds.y.leading_dimension(),
                                                clouds.x.rows(), coordinates, clouds.y.leading_dimension(),
                                                StorageOrder::row_major)));
  std::vector<A> x;
  return made_of_transports<A>(
      context, checked, own, is_one_cloud, options,
      [&](Within within, const Marginals& masses, const TransportOptions& how) {
        PointClouds<A> of = clouds;
        if (within == Within::rows && !clouds.grid) {
          x = all_points<A>(context, clouds.x);
          of.y = {x.data(), checked.all_rows, coordinates, std::max(Index{1}, coordinates), StorageOrder::row_major};
        }
        if (within == Within::columns) of.x = own_y;
        if (within == Within::both) return transport<A>(context, of, masses, how);
        const auto made = mpi::agreed(context, [&] { return point_costs<A>(of, context.topology().threads()); });
        return to_themselves<A>(context, *made, masses, how,
                                [&](const TransportOptions& last, std::span<const A> start) {
                                  return transport<A>(context, of, masses, last, start);
                                });
      });
}

#define PLAIT_INSTANTIATE(T, A)                                                                   \
  template Divergence<A> divergence(mpi::Context&, const CostsOfDivergence<T>&, const Marginals&, \
                                    const TransportOptions&)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

#define PLAIT_INSTANTIATE(A) \
  template Divergence<A> divergence(mpi::Context&, const PointClouds<A>&, const Marginals&, const TransportOptions&)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
