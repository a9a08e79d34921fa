#pragma once

#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/course/status.hpp"

/// How a small epsilon is approached from a larger one, and what it leaves of the range of numbers. Local.
namespace plait::sinkhorn {

/// Beyond this, exponentials of costs in units of epsilon span too many orders of magnitude to be factors of anything.
template <class A>
inline constexpr double widest_factors = std::is_same_v<A, double> ? 500 : 50;

/// See `Update`: of a side that rho relaxes; 1 where that is infinite.
[[nodiscard]] double relaxed_exponent(double rho, double epsilon);

/// With what epsilon to begin: in steps, if costs are many epsilons.
///
/// \param given    what somebody wants; 0: nobody said
/// \param highest  no cost but infinite ones is larger, or less than minus that
[[nodiscard]] double first_epsilon(double given, double highest, double last);

[[nodiscard]] double next_epsilon(double epsilon, double last);

/// Of a stage before the last one little is wanted.
[[nodiscard]] Limits limits_of_stage(const Limits& limits, bool is_last);

/// Why there is no plan where costs, in units of epsilon, are no numbers of type A.
template <class A>
[[nodiscard]] std::optional<Outcome> beyond_range(double highest, double epsilon);

/// Potentials in units of epsilon.
template <class A>
[[nodiscard]] std::vector<A> in_units_of(double epsilon, std::span<const A> potentials) {
  std::vector<A> units;
  units.reserve(potentials.size());
  for (const A potential : potentials) units.push_back(static_cast<A>(static_cast<double>(potential) / epsilon));
  return units;
}

}  // namespace plait::sinkhorn
