#include "plait/purify/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/lanczos.hpp"

namespace plait::purify {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index steps_for_bounds = 30;
constexpr Index steps_for_frontier = 80;
constexpr double least_energy = 1e-140;  // whose squares can be summed up
constexpr double highest_energy = 1e140;

}  // namespace

template <class T>
Interval spectrum_of(mpi::Context& context, const Matrix<T>& h, Bounds bounds) {
  const RowDiscs discs = gershgorin(context, h);
  const double largest = std::max(std::abs(discs.low), std::abs(discs.high));
  if (largest != 0 && !(largest > least_energy && largest < highest_energy)) {
    throw ArgumentError(
        fmt::format("h: its energies are {} at most, expected {} to {} in an orthonormal basis: choose another unit",
                    largest, least_energy, highest_energy));
  }
  Interval result{discs.low, discs.high};
  if (bounds == Bounds::lanczos) {
    const RitzValues found = lanczos<T>(h.layout().shape().rows, steps_for_bounds, 0,
                                        [&](std::span<const T> x, std::span<T> y) { apply(context, h, x, y); });
    const double rounding = 1e-12 * std::max(1e-300, largest);
    result.low = std::max(result.low, found.low - found.coupling - rounding);
    result.high = std::min(result.high, found.high + found.coupling + rounding);
  }
  return result;
}

template <class T>
Frontier frontier_of(mpi::Context& context, const Matrix<T>& h, const Matrix<T>& d, double tolerance) {
  const Index n = h.layout().shape().rows;
  const auto times_h = [&](std::span<const T> x, std::span<T> y) { apply(context, h, x, y); };
  std::vector<T> projected(static_cast<std::size_t>(n));
  const auto into_occupied = [&](std::span<T> x) {
    apply(context, d, std::span<const T>(x.data(), x.size()), std::span<T>(projected));
    std::ranges::copy(projected, x.begin());
  };
  const auto into_empty = [&](std::span<T> x) {
    apply(context, d, std::span<const T>(x.data(), x.size()), std::span<T>(projected));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= projected[i];
  };
  const RitzValues occupied = lanczos<T>(n, steps_for_frontier, tolerance, times_h, into_occupied);
  const RitzValues empty = lanczos<T>(n, steps_for_frontier, tolerance, times_h, into_empty);
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
double commutator_error(mpi::Context& context, const Matrix<T>& h, const Matrix<T>& d) {
  constexpr std::uint64_t seed = 7;
  const auto n = static_cast<std::size_t>(h.layout().shape().rows);
  std::vector<T> v(n), half(n), hd(n), dh(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = random_uniform(seed, i) - 0.5;
  apply(context, d, std::span<const T>(v), std::span<T>(half));
  apply(context, h, std::span<const T>(half), std::span<T>(hd));
  apply(context, h, std::span<const T>(v), std::span<T>(half));
  apply(context, d, std::span<const T>(half), std::span<T>(dh));
  double difference = 0;
  double length = 0;
  for (std::size_t i = 0; i < n; ++i) {
    difference += std::norm(hd[i] - dh[i]);
    length += std::norm(v[i]);
  }
  return length > 0 ? std::sqrt(difference / length) : 0;
}

#define PLAIT_INSTANTIATE(T)                                                                \
  template Interval spectrum_of(mpi::Context&, const Matrix<T>&, Bounds);                   \
  template Frontier frontier_of(mpi::Context&, const Matrix<T>&, const Matrix<T>&, double); \
  template double commutator_error(mpi::Context&, const Matrix<T>&, const Matrix<T>&);
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
