#include "plait/sinkhorn/transport/epsilon.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/sinkhorn/course/stagnation.hpp"

namespace plait::sinkhorn {

namespace {

Outcome out_of_range(std::string reason) {
  return {Status::numerical_limit, std::move(reason), 0, std::numeric_limits<double>::infinity(), {}};
}

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

Limits limits_of_stage(const Limits& limits, bool is_last) {
  Limits of_stage = limits;
  if (is_last) return of_stage;
  constexpr double rough = 1e-2;
  constexpr Index few = 100;
  of_stage.tolerance = std::max(rough, limits.tolerance);
  of_stage.most_iterations = std::min(few, limits.most_iterations);
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

}  // namespace plait::sinkhorn
