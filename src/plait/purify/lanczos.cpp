#include "plait/purify/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>

#include "plait/base/random.hpp"
#include "plait/krylov/lanczos.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::purify {

namespace {

double conjugate(double value) { return value; }
std::complex<double> conjugate(const std::complex<double>& value) { return std::conj(value); }

template <class T>
T product(std::span<const T> a, std::span<const T> b) {
  T sum{};
  for (std::size_t i = 0; i < a.size(); ++i) sum += conjugate(a[i]) * b[i];
  return sum;
}

template <class T>
double norm(std::span<const T> a) {
  double sum = 0;
  for (const T& value : a) sum += std::norm(value);
  return std::sqrt(sum);
}

/// The size of the last component of the normalised eigenvector: two steps of inverse iteration from the last unit
/// vector, which it is no solution orthogonal to.
double last_component(std::span<const double> diagonal, std::span<const double> coupling, double value) {
  const std::size_t n = diagonal.size();
  std::vector<double> vector(n, 1.0);
  double scale = 0;
  for (std::size_t i = 0; i < n; ++i) scale = std::max({scale, std::abs(diagonal[i]), i + 1 < n ? coupling[i] : 0.0});
  constexpr double least = 1e-250;  // whose parts have finite reciprocals
  const double shift = value + 1e-14 * std::max(scale, least);
  for (int pass = 0; pass < 3; ++pass) {
    // Gauss with row interchanges on a band of width two above the diagonal.
    std::vector<double> main(n), above(n), second(n), right = vector;
    double a = diagonal[0] - shift;
    double b = n > 1 ? coupling[0] : 0;
    double c = 0;
    double r = right[0];
    for (std::size_t i = 0; i + 1 < n; ++i) {
      double below = coupling[i];
      double next = diagonal[i + 1] - shift;
      double next_above = i + 2 < n ? coupling[i + 1] : 0;
      double next_second = 0;
      double next_right = right[i + 1];
      if (std::abs(below) > std::abs(a)) {
        std::swap(a, below);
        std::swap(b, next);
        std::swap(c, next_above);
        std::swap(r, next_right);
      }
      if (a == 0) a = std::numeric_limits<double>::min();
      const double factor = below / a;
      main[i] = a;
      above[i] = b;
      second[i] = c;
      right[i] = r;
      a = next - factor * b;
      b = next_above - factor * c;
      c = next_second;
      r = next_right - factor * r;
    }
    main[n - 1] = a == 0 ? 1e-300 : a;
    right[n - 1] = r;
    for (std::size_t i = n; i-- > 0;) {
      double sum = right[i];
      if (i + 1 < n) sum -= above[i] * vector[i + 1];
      if (i + 2 < n) sum -= second[i] * vector[i + 2];
      vector[i] = sum / main[i];
    }
    double largest = 0;
    for (const double element : vector) largest = std::max(largest, std::abs(element));
    for (double& element : vector) element /= largest;
    const double length = norm(std::span<const double>(vector));
    for (double& element : vector) element /= length;
  }
  return std::abs(vector[n - 1]);
}

template <class T>
std::vector<T> random_vector(Index n) {
  constexpr std::uint64_t seed = 20;
  std::vector<T> result(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = random_uniform(seed, i) - 0.5;
  return result;
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
      result.low_residual = result.coupling * last_component(diagonal, coupling, result.low);
      result.high_residual = result.coupling * last_component(diagonal, coupling, result.high);
      result.steps = step;
      take_memory();
    });
    if (is_whole || step >= most_steps || (is_enough && is_enough(result))) return result;
    coupling.push_back(length);
  }
}

#define PLAIT_INSTANTIATE(T)                                                                     \
  template RitzValues lanczos(mpi::Context&, Index, Index, FunctionRef<bool(const RitzValues&)>, \
                              FunctionRef<void(std::span<const T>, std::span<T>)>, FunctionRef<void(std::span<T>)>);
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
