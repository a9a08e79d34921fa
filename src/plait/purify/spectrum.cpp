#include "plait/purify/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/purify/allocate.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/lanczos.hpp"

namespace plait::purify {

namespace {

constexpr Index steps_for_bounds = 50;
constexpr double least_energy = 1e-140;  // whose squares can be summed up
constexpr double highest_energy = 1e140;

/// How far the extreme eigenvalues may lie beyond those that so many steps found, as a share of the latters' distance.
double share_beyond(Index n, Index steps) {
  const double eps = lanczos_error(n, steps);
  return eps < 0.25 ? eps / (1 - 2 * eps) : std::numeric_limits<double>::infinity();
}

/// The product of the matrices, of which null ones are 1, and v: the last one first.
template <class T>
std::vector<T> applied(mpi::Context& context, std::initializer_list<const Matrix<T>*> matrices,
                       const std::vector<T>& to) {
  auto v = mpi::agreed(context, [&] { return to; });
  auto result = allocate_vector<T>(context, v.size());
  for (auto matrix = std::rbegin(matrices); matrix != std::rend(matrices); ++matrix) {
    if (*matrix == nullptr) continue;
    apply(context, **matrix, std::span<const T>(v), std::span<T>(result));
    std::swap(v, result);
  }
  return v;
}

}  // namespace

void expect_squares(double largest) {
  if (largest == 0 || (largest > least_energy && largest < highest_energy)) return;
  throw ArgumentError(
      fmt::format("h: its energies are {} at most, expected {} to {} in an orthonormal basis: choose another unit",
                  largest, least_energy, highest_energy));
}

template <class T>
Interval spectrum_of(mpi::Context& context, const Matrix<T>& h, Bounds bounds) {
  const RowDiscs discs = gershgorin(context, h);
  const double largest = std::max(std::abs(discs.low), std::abs(discs.high));
  expect_squares(largest);
  Interval result{discs.low, discs.high};
  if (bounds == Bounds::lanczos) {
    const RitzValues found = lanczos<T>(context, h.layout().shape().rows, steps_for_bounds, {},
                                        [&](std::span<const T> x, std::span<T> y) { apply(context, h, x, y); });
    const double rounding = 1e-12 * std::max(1e-300, largest);
    const double beyond =
        std::min(found.coupling, share_beyond(h.layout().shape().rows, found.steps) * (found.high - found.low)) +
        rounding;
    result.low = std::max(result.low, found.low - beyond);
    result.high = std::min(result.high, found.high + beyond);
  }
  return result;
}

template <class T>
double commutator_error(mpi::Context& context, const Matrix<T>& h, const Matrix<T>& d, const Matrix<T>* s) {
  constexpr std::uint64_t seed = 7;
  auto v = allocate_vector<T>(context, static_cast<std::size_t>(h.layout().shape().rows));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = random_uniform(seed, i) - 0.5;
  const auto hds = applied<T>(context, {&h, &d, s}, v);
  const auto sdh = applied<T>(context, {s, &d, &h}, v);
  double difference = 0;
  double length = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    difference += std::norm(hds[i] - sdh[i]);
    length += std::norm(v[i]);
  }
  return length > 0 ? std::sqrt(difference / length) : 0;
}

template <class T>
double sampled_idempotency_error(mpi::Context& context, const Matrix<T>& d, const Matrix<T>* s) {
  constexpr std::size_t samples = 4;  // at once, as each look at a matrix takes a message
  auto v = allocate_vector<T>(context, samples * static_cast<std::size_t>(d.layout().shape().rows));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = random_uniform(0, i) < 0.5 ? -1 : 1;
  const auto once = applied<T>(context, {&d}, v);
  const auto twice = applied<T>(context, {&d, s}, once);
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += std::norm(twice[i] - once[i]);
  return std::sqrt(sum / samples);
}

#define PLAIT_INSTANTIATE(T)                                                                             \
  template Interval spectrum_of(mpi::Context&, const Matrix<T>&, Bounds);                                \
  template double commutator_error(mpi::Context&, const Matrix<T>&, const Matrix<T>&, const Matrix<T>*); \
  template double sampled_idempotency_error(mpi::Context&, const Matrix<T>&, const Matrix<T>*);
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
