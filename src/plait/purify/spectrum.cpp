#include "plait/purify/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/lanczos.hpp"

namespace plait::purify {

namespace {

constexpr Index steps_for_bounds = 30;
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
    const RitzValues found = lanczos<T>(h.layout().shape().rows, steps_for_bounds, {},
                                        [&](std::span<const T> x, std::span<T> y) { apply(context, h, x, y); });
    const double rounding = 1e-12 * std::max(1e-300, largest);
    result.low = std::max(result.low, found.low - found.coupling - rounding);
    result.high = std::min(result.high, found.high + found.coupling + rounding);
  }
  return result;
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

#define PLAIT_INSTANTIATE(T)                                              \
  template Interval spectrum_of(mpi::Context&, const Matrix<T>&, Bounds); \
  template double commutator_error(mpi::Context&, const Matrix<T>&, const Matrix<T>&);
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
