#include "plait/purify/frontier.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/spectrum.hpp"

namespace plait::purify {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double relative_error = 1e-6;  // of the gap
constexpr double rounding = 1e-14;       // of the width of the spectrum

/// The a in [0, 0.21) whose (1 - 2a) a (1 - a) is f: how far a state is from 1, if f is an eigenvalue of
/// (2X - I)(X - X²), or from 0, if -f is. The function increases up to there.
double distance_of(double f) {
  double low = 0;
  double high = (1 - 1 / std::sqrt(3.0)) / 2;
  for (int halvings = 0; halvings < 1100; ++halvings) {  // a may be tiny, and is then told as well
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    ((1 - 2 * middle) * middle * (1 - middle) < f ? low : high) = middle;
  }
  return high;
}

}  // namespace

Interval Frontier::gap() const noexcept {
  const double widest = lowest_empty - highest_occupied;
  return {std::max(0.0, widest - occupied_error - empty_error), widest};
}

bool Frontier::is_resolved(double width) const noexcept {
  return occupied_error + empty_error <= std::max(relative_error * gap().low, rounding * width);
}

Frontier Frontier::widened(double by) const noexcept {
  return {highest_occupied - by, occupied_error + 2 * by, lowest_empty + by, empty_error + 2 * by};
}

void improve(Frontier& frontier, const Frontier& other) noexcept {
  if (other.occupied_error < frontier.occupied_error) {
    frontier.highest_occupied = other.highest_occupied;
    frontier.occupied_error = other.occupied_error;
  }
  if (other.empty_error < frontier.empty_error) {
    frontier.lowest_empty = other.lowest_empty;
    frontier.empty_error = other.empty_error;
  }
}

template <class T>
Frontier frontier_of_iterate(mpi::Context& context, const Matrix<T>& x, const Occupation& occupation, Interval within,
                             double noise) {
  // Energies differ by g (df / f) / (2 log(1 / f)) at most, where f < 0.1 differs by df, and g is the gap.
  constexpr double enough = 2e-6;
  constexpr Index most_steps = 150;
  const double least = std::max(1e-9, 5 * noise);  // what is nearer to 0 is hidden by noise
  constexpr double most = 0.09;                    // and what is further away is not told apart
  const auto n = static_cast<std::size_t>(x.layout().shape().rows);
  auto first = allocate_vector<T>(context, n);
  auto second = allocate_vector<T>(context, n);
  const auto times_signed_error = [&](std::span<const T> v, std::span<T> result) {
    apply(context, x, v, std::span<T>(first));
    apply(context, x, std::span<const T>(first), std::span<T>(second));
    for (std::size_t i = 0; i < n; ++i) first[i] -= second[i];
    apply(context, x, std::span<const T>(first), std::span<T>(second));
    for (std::size_t i = 0; i < n; ++i) result[i] = 2.0 * second[i] - first[i];
  };
  const auto is_known = [&](double end, double residual) {
    return (end > least && residual <= enough * end) || (end <= least && residual <= least);
  };
  const RitzValues found = lanczos<T>(
      context, static_cast<Index>(n), most_steps,
      [&](const RitzValues& ritz) {
        return is_known(ritz.high, ritz.high_residual) && is_known(-ritz.low, ritz.low_residual);
      },
      times_signed_error);
  // The energy of a state at that distance from 1 or 0, and how far it may be off.
  const auto tell = [&](double end, double residual, bool is_occupied, double& energy, double& error) {
    if (!(end > least && end < most)) return;
    const auto energy_at = [&](double f) {
      return occupation.energy_of(is_occupied ? 1 - distance_of(f) : distance_of(f), within);
    };
    energy = energy_at(end - noise);
    if (end + residual + noise < most) error = std::abs(energy_at(end + residual + noise) - energy);
  };
  Frontier frontier;
  tell(found.high, found.high_residual, true, frontier.highest_occupied, frontier.occupied_error);
  tell(-found.low, found.low_residual, false, frontier.lowest_empty, frontier.empty_error);
  return frontier;
}

template <class T>
Frontier frontier_of_density(mpi::Context& context, const Matrix<T>& h, const Matrix<T>& d, double tolerance,
                             Index most_steps) {
  const Index n = h.layout().shape().rows;
  const auto times_h = [&](std::span<const T> x, std::span<T> y) { apply(context, h, x, y); };
  auto projected = allocate_vector<T>(context, static_cast<std::size_t>(n));
  const auto into_occupied = [&](std::span<T> x) {
    apply(context, d, std::span<const T>(x.data(), x.size()), std::span<T>(projected));
    std::ranges::copy(projected, x.begin());
  };
  const auto into_empty = [&](std::span<T> x) {
    apply(context, d, std::span<const T>(x.data(), x.size()), std::span<T>(projected));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= projected[i];
  };
  const RitzValues occupied = lanczos<T>(
      context, n, most_steps, [&](const RitzValues& ritz) { return ritz.high_residual <= tolerance; }, times_h,
      into_occupied);
  const RitzValues empty = lanczos<T>(
      context, n, most_steps, [&](const RitzValues& ritz) { return ritz.low_residual <= tolerance; }, times_h,
      into_empty);
  Frontier frontier{-infinity, 0, infinity, 0};
  if (!occupied.empty) {
    frontier.highest_occupied = occupied.high;
    frontier.occupied_error = occupied.high_residual;
  }
  if (!empty.empty) {
    frontier.lowest_empty = empty.low;
    frontier.empty_error = empty.low_residual;
  }
  return frontier;
}

template <class T>
Interval frontier_near_density(mpi::Context& context, const Matrix<T>& h, const Matrix<T>& d, Index occupied) {
  const Index n = h.layout().shape().rows;
  const double most_error = 1e-7 * std::max(1.0, static_cast<double>(n));
  const double states = trace(context, d);
  const double error = sampled_idempotency_error(context, d);
  if (!(std::abs(states - static_cast<double>(occupied)) < most_error && error < most_error)) {
    throw ArgumentError(fmt::format(
        "d: has the trace {:.10g}, and ‖d² - d‖ is {}; expected a density matrix with {} states, "
        "1 of each",
        states, std::isfinite(error) ? fmt::format("about {:.2g}", error) : "beyond the range of numbers", occupied));
  }
  // d h (1-d) h d, whose highest eigenvalue is the square of the norm.
  auto first = allocate_vector<T>(context, static_cast<std::size_t>(n));
  auto second = allocate_vector<T>(context, static_cast<std::size_t>(n));
  const auto coupling_twice = [&](std::span<const T> x, std::span<T> y) {
    apply(context, d, x, std::span<T>(first));
    apply(context, h, std::span<const T>(first), std::span<T>(second));
    apply(context, d, std::span<const T>(second), std::span<T>(first));
    for (std::size_t i = 0; i < second.size(); ++i) second[i] -= first[i];
    apply(context, h, std::span<const T>(second), std::span<T>(first));
    apply(context, d, std::span<const T>(first), y);
  };
  const RitzValues squares = lanczos<T>(context, n, 20, {}, coupling_twice);
  const double share = lanczos_error(n, squares.steps);
  const double by_chance = share < 1 ? squares.high / (1 - share) : infinity;  // as no square is negative
  const double coupling = std::sqrt(std::max(0.0, std::min(squares.high + squares.coupling, by_chance)));
  const Frontier found = frontier_of_density(context, h, d, coupling / 4, 40);
  // Where d mixes the states at the gap, the highest of its space may lie above the lowest of the other one.
  const double low = std::min(found.highest_occupied, found.lowest_empty - found.empty_error);
  const double high = std::max(found.lowest_empty, found.highest_occupied + found.occupied_error);
  const double reach = coupling + 1e-5 * (high - low) + 1e-12 * (std::abs(low) + std::abs(high));
  return {low - reach, high + reach};
}

#define PLAIT_INSTANTIATE(T)                                                                                   \
  template Frontier frontier_of_iterate(mpi::Context&, const Matrix<T>&, const Occupation&, Interval, double); \
  template Frontier frontier_of_density(mpi::Context&, const Matrix<T>&, const Matrix<T>&, double, Index);     \
  template Interval frontier_near_density(mpi::Context&, const Matrix<T>&, const Matrix<T>&, Index);
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
