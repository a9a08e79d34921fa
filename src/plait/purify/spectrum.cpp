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
#include "plait/dense/local_product.hpp"
#include "plait/krylov/lanczos.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/hamiltonian.hpp"
#include "plait/purify/products.hpp"

namespace plait::purify {

namespace {

template <class T>
T product(std::span<const T> a, std::span<const T> b) {
  T sum{};
  for (std::size_t i = 0; i < a.size(); ++i) sum += dense::conjugated(a[i]) * b[i];
  return sum;
}

template <class T>
double norm(std::span<const T> a) {
  double sum = 0;
  for (const T& value : a) sum += std::norm(value);
  return std::sqrt(sum);
}

template <class T>
std::vector<T> random_vector(Index n) {
  constexpr std::uint64_t seed = 20;
  std::vector<T> result(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = random_uniform(seed, i) - 0.5;
  return result;
}

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

double lanczos_error(Index n, Index steps) {
  constexpr double chance = 1e-9;
  const double root =
      std::log(1.648 * std::sqrt(static_cast<double>(n)) / chance) / (2 * static_cast<double>(steps) - 1);
  return root * root;
}

template <class T>
RitzValues lanczos(mpi::Context& context, Index n, Index most_steps, FunctionRef<bool(const RitzValues&)> is_enough,
                   FunctionRef<void(std::span<const T> x, std::span<T> y)> apply,
                   FunctionRef<void(std::span<T> x)> project) {
  constexpr std::size_t steps_at_once = 5;
  std::vector<std::vector<T>> basis;
  std::vector<std::vector<T>> spare;  // memory of the next steps' vectors, taken where ranks agree anyway
  std::vector<double> diagonal;
  std::vector<double> coupling;
  const auto take_memory = [&] {
    while (spare.size() < steps_at_once) spare.emplace_back(static_cast<std::size_t>(n));
    basis.reserve(basis.size() + steps_at_once);
    diagonal.reserve(basis.size() + steps_at_once);
    coupling.reserve(basis.size() + steps_at_once);
  };
  std::vector<T> vector = mpi::agreed(context, [&] {
    take_memory();
    return random_vector<T>(n);
  });
  const auto prepared = [&](std::vector<T>& v) {
    // Twice, as what is left may be small, and then rounding errors of the first time are not.
    for (int pass = 0; pass < 2; ++pass) {
      if (project) project(v);
      for (const std::vector<T>& other : basis) {
        const T factor = product<T>(other, v);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] -= factor * other[i];
      }
    }
    return norm<T>(v);
  };
  const double before = norm<T>(vector);
  double length = prepared(vector);
  if (!(length > 1e-6 * before)) return {.empty = true};
  RitzValues result;
  double scale = 0;
  for (Index step = 1;; ++step) {
    for (T& value : vector) value /= length;
    basis.push_back(std::move(spare.back()));
    spare.pop_back();
    std::ranges::copy(vector, basis.back().begin());
    apply(basis.back(), vector);
    diagonal.push_back(std::real(product<T>(basis.back(), vector)));
    scale = std::max({scale, std::abs(diagonal.back()), norm<T>(vector)});
    length = prepared(vector);
    const bool is_whole = !(length > 1e-11 * scale) || step == n;
    if (step % static_cast<Index>(steps_at_once) != 0 && step < most_steps && !is_whole) {
      coupling.push_back(length);
      continue;
    }
    mpi::agreed(context, [&] {
      result.low = krylov::tridiagonal_eigenvalue(diagonal, coupling, 0);
      result.high = krylov::tridiagonal_eigenvalue(diagonal, coupling, diagonal.size() - 1);
      result.coupling = is_whole ? 0 : length;
      const auto residual_of = [&](double value) {  // by the last component of its vector
        return is_whole ? 0 : length * std::abs(krylov::tridiagonal_eigenvector(diagonal, coupling, value).back());
      };
      result.low_residual = residual_of(result.low);
      result.high_residual = residual_of(result.high);
      result.steps = step;
      take_memory();
    });
    if (is_whole || step >= most_steps || (is_enough && is_enough(result))) return result;
    coupling.push_back(length);
  }
}

void expect_squares(double largest) {
  if (largest == 0 || (largest > least_energy && largest < highest_energy)) return;
  throw ArgumentError(
      fmt::format("h: its energies are {} at most, expected {} to {} in an orthonormal basis: choose another unit",
                  largest, least_energy, highest_energy));
}

template <class T>
Interval spectrum_of(mpi::Context& context, const Matrix<T>& h, Bounds bounds) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("bounds", bounds);
  });
  if (h.layout().shape().empty()) return {};
  const Interval discs = gershgorin(context, h);
  const double largest = std::max(std::abs(discs.low), std::abs(discs.high));
  if (!std::isfinite(largest)) expect_finite(context, h, "h");
  expect_squares(largest);
  Interval result = discs;
  if (bounds == Bounds::lanczos) {
    const RitzValues found = lanczos<T>(context, h.layout().shape().rows, steps_for_bounds, {},
                                        [&](std::span<const T> x, std::span<T> y) { apply(context, h, x, y); });
    // Where few steps span all that the first vector has, the residual is rounding, and levels that are as near to each
    // other are found as one. A spectrum that is as little wider takes no more steps.
    const double unresolved = 1e-8 * std::max(1e-300, largest);
    const double beyond =
        std::min(found.coupling, share_beyond(h.layout().shape().rows, found.steps) * (found.high - found.low)) +
        unresolved;
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
  template double sampled_idempotency_error(mpi::Context&, const Matrix<T>&, const Matrix<T>*);          \
  template RitzValues lanczos(mpi::Context&, Index, Index, FunctionRef<bool(const RitzValues&)>,         \
                              FunctionRef<void(std::span<const T>, std::span<T>)>, FunctionRef<void(std::span<T>)>);
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
