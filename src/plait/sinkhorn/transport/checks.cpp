#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/sweep/update.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

namespace plait::sinkhorn {

void expect_suitable(const TransportOptions& options, mpi::Alike& arguments) {
  arguments.add("epsilon", options.epsilon);
  arguments.add("first epsilon", options.first_epsilon);
  arguments.add("domain", options.domain);
  arguments.add("rho of the rows", options.rho.rows);
  arguments.add("rho of the columns", options.rho.columns);
  name_arguments(options.limits, arguments);
  expect_valid(options.limits);
  if (!(options.epsilon > 0) || !std::isfinite(options.epsilon)) {
    throw ArgumentError(fmt::format("epsilon is {}, expected a finite number > 0", options.epsilon));
  }
  if (options.first_epsilon != 0 &&
      !(options.first_epsilon >= options.epsilon && std::isfinite(options.first_epsilon))) {
    throw ArgumentError(fmt::format("the first epsilon is {}, expected a finite number >= {}, the last one",
                                    options.first_epsilon, options.epsilon));
  }
  for (const auto& [rho, of] : {std::pair{options.rho.rows, "rows"}, {options.rho.columns, "columns"}}) {
    if (!(rho > 0)) {
      throw ArgumentError(fmt::format("rho of the {} is {}, expected a number > 0, infinity for none", of, rho));
    }
    // Where the exponent rounds to 1 sums would have to be the masses. What sums are to be depends on potentials over
    // rho: where it is small, rounding of potentials over epsilon moves them by 2^-55 epsilon / rho.
    constexpr double least_power = 0x1p-25;
    const double power = relaxed_exponent(rho, options.epsilon);
    if (std::isinf(rho) || (power < 1 && power >= least_power)) continue;
    const auto problem = fmt::format("rho of the {} is {} and epsilon is {}", of, rho, options.epsilon);
    if (power < least_power) {
      throw ArgumentError(
          fmt::format("{}: sums would be off by rounding alone, expected a larger rho, {:.2g} of epsilon at least",
                      problem, least_power));
    }
    throw ArgumentError(fmt::format(
        "{}: rho / (rho + epsilon) rounds to 1, expected a smaller rho, or infinity for balanced transport", problem));
  }
}

std::vector<CheckedMarginals> required_masses(mpi::Context& context, std::span<const CheckedMarginals> masses,
                                              const Rho& rho) {
  auto had = mpi::agreed(context, [&] { return std::vector<CheckedMarginals>(masses.begin(), masses.end()); });
  for (CheckedMarginals& of_problem : had) {
    if (std::isfinite(rho.rows)) std::ranges::fill(of_problem.rows, 0.0);
    if (std::isfinite(rho.columns)) std::ranges::fill(of_problem.columns, 0.0);
  }
  return had;
}

namespace {

template <class A>
void expect_coordinates(matrix_view<const A> points, std::string_view which, Index first, Metric metric) {
  if (!points.empty() && points.order() != StorageOrder::row_major) {
    throw ArgumentError(fmt::format("the points of {} are column-major, expected row-major, a point a row", which));
  }
  for (Index i = 0; i < points.rows(); ++i) {
    bool has_direction = metric != Metric::cosine;
    for (Index k = 0; k < points.columns(); ++k) {
      const A coordinate = points.data()[i * points.leading_dimension() + k];
      has_direction = has_direction || coordinate != 0;
      if (std::isfinite(coordinate)) continue;
      throw ArgumentError(fmt::format("point {} of {} has {} as coordinate {}, expected a finite number", first + i,
                                      which, coordinate, k));
    }
    if (has_direction) continue;
    throw ArgumentError(
        fmt::format("point {} of {} has 0 as all coordinates, expected a direction for cosine", first + i, which));
  }
}

/// The lowest coordinates, with their signs changed, and then the highest, in each dimension.
template <class A>
void widen_box(std::vector<double>& box, matrix_view<const A> points) {
  const auto coordinates = static_cast<std::size_t>(points.columns());
  for (Index i = 0; i < points.rows(); ++i) {
    for (std::size_t k = 0; k < coordinates; ++k) {
      const auto at = static_cast<double>(points.data()[i * points.leading_dimension() + static_cast<Index>(k)]);
      box[k] = std::max(box[k], -at);
      box[coordinates + k] = std::max(box[coordinates + k], at);
    }
  }
}

/// No cost between two points of the boxes is larger.
template <class A>
double highest_cost(mpi::Context& context, const PointClouds<A>& clouds) {
  const Norm norm = clouds.norm();
  if (clouds.grid) {
    return norm.cost(clouds.grid->dimensions, [&](Index k) {
      const auto a = static_cast<std::size_t>(k);
      return clouds.grid->spacing[a] * static_cast<double>(std::max(Index{0}, clouds.grid->extents[a] - 1));
    });
  }
  if (clouds.metric == Metric::cosine) return std::pow(2, clouds.power);
  const auto coordinates = static_cast<std::size_t>(clouds.y.columns());
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  std::vector<double> x;
  std::vector<double> y;
  mpi::agreed(context, [&] {
    x.assign(2 * coordinates, lowest);
    y.assign(2 * coordinates, lowest);
    if (clouds.x.rows() > 0) widen_box(x, clouds.x);
    widen_box(y, clouds.y);
  });
  mpi::all_reduce(context.comm(), std::span<double>(x), mpi::Operation::maximum());
  if (coordinates == 0 || x[0] == lowest || y[0] == lowest) return 0;
  return norm.cost(clouds.y.columns(), [&](Index k) {
    const auto at = static_cast<std::size_t>(k);
    return std::max(x[coordinates + at] + y[at], y[coordinates + at] + x[at]);
  });
}

template <class A>
void expect_nodes(const PointClouds<A>& clouds) {
  if (clouds.metric == Metric::cosine || !clouds.norm().is_sum(clouds.grid->dimensions)) {
    throw ArgumentError(
        fmt::format("costs between nodes of a grid are {} to the power {}, expected a sum over axes: sqeuclidean, "
                    "cityblock, or minkowski to the power of its p",
                    name(clouds.metric), clouds.power));
  }
  const auto& [dimensions, extents, spacing] = *clouds.grid;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    const bool is_axis = static_cast<int>(a) < dimensions;
    if (is_axis ? extents[a] >= 0 : extents[a] == 1) continue;
    throw ArgumentError(fmt::format("the grid has {} nodes on axis {}, expected {}", extents[a], a,
                                    is_axis ? "a number >= 0" : "one beyond its dimensions"));
  }
  for (const double each : spacing) {
    if (each > 0 && std::isfinite(each)) continue;
    throw ArgumentError(fmt::format("the spacing of the grid is {}, expected a finite number > 0", each));
  }
  if (clouds.y.rows() != clouds.grid->nodes()) {
    throw ArgumentError(
        fmt::format("Y has {} points, expected {}, the nodes of the grid", clouds.y.rows(), clouds.grid->nodes()));
  }
}

template <class A>
void expect_clouds(mpi::Context& context, const PointClouds<A>& clouds, const TransportOptions& options) {
  const Index first = mpi::sum_below(context.comm(), clouds.x.rows());
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<A>();
    arguments.add("metric", clouds.metric);
    arguments.add("p", clouds.p);
    arguments.add("power", clouds.power);
    expect_suitable(options, arguments);
    if (options.domain == Domain::factors) {
      throw ArgumentError(
          "the domain is factors, which are stored as a matrix, expected logarithmic or automatic for points");
    }
    if (clouds.metric == Metric::minkowski && !(clouds.p >= 1 && std::isfinite(clouds.p))) {
      throw ArgumentError(
          fmt::format("p is {}, expected a finite number >= 1; chebyshev is the limit of large ones", clouds.p));
    }
    if (!(clouds.power > 0 && std::isfinite(clouds.power))) {
      throw ArgumentError(fmt::format("the power of distances is {}, expected a finite number > 0", clouds.power));
    }
    if (clouds.x.rows() > 0 && clouds.x.columns() != clouds.y.columns()) {
      throw ArgumentError(fmt::format("the points of X have {} coordinates, those of Y {}, expected as many",
                                      clouds.x.columns(), clouds.y.columns()));
    }
    arguments.add("whether there is a grid", clouds.grid.has_value());
    if (clouds.grid) {
      for (const Index extent : clouds.grid->extents) arguments.add("extent of the grid", extent);
      for (const double spacing : clouds.grid->spacing) arguments.add("spacing of the grid", spacing);
      expect_nodes(clouds);
      if (clouds.x.rows() > 0 && clouds.first_node != first) {
        throw ArgumentError(
            fmt::format("the first node of this rank is {}, expected {}, as many as those of the ranks "
                        "before it",
                        clouds.first_node, first));
      }
    }
    expect_coordinates(clouds.x, "X", first, clouds.metric);
    expect_coordinates(clouds.y, "Y", 0, clouds.metric);
    Index digest = 0;
    for (Index i = 0; i < clouds.y.rows(); ++i) {
      const A* const point = clouds.y.data() + i * clouds.y.leading_dimension();
      digest = digest_of(std::span(point, static_cast<std::size_t>(clouds.y.columns())), digest);
    }
    arguments.add("digest of Y", digest);
  });
}

}  // namespace

template <class A>
double checked_highest_cost(mpi::Context& context, const PointClouds<A>& clouds, const TransportOptions& options) {
  expect_clouds(context, clouds, options);
  const double highest = highest_cost(context, clouds);
  mpi::agreed(context, [&] {
    // Distances are roots of squares, or sums, that are found in A before they are raised to a power.
    const Norm norm = clouds.norm();
    const double largest = std::max(highest, std::pow(highest, (norm.p == 2 ? 2 : 1) / norm.power));
    if (!(largest <= static_cast<double>(std::numeric_limits<A>::max()))) {
      throw ArgumentError(fmt::format("costs between the points may be as large as {:.3g}, beyond the range of {}",
                                      highest, std::is_same_v<A, double> ? "double" : "float"));
    }
  });
  return highest;
}

template double checked_highest_cost(mpi::Context&, const PointClouds<double>&, const TransportOptions&);
template double checked_highest_cost(mpi::Context&, const PointClouds<float>&, const TransportOptions&);

}  // namespace plait::sinkhorn
