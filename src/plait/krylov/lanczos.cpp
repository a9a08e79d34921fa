#include "plait/krylov/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "plait/mpi/agreed.hpp"

namespace plait::krylov {

namespace {

// How many eigenvalues lie below x, by the signs of a Sturm sequence.
std::size_t count_below(std::span<const double> diagonal, std::span<const double> coupling, double x) {
  std::size_t count = 0;
  double pivot = 1;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double off = i == 0 ? 0 : coupling[i - 1];
    pivot = diagonal[i] - x - (i == 0 ? 0 : off * off / pivot);
    if (pivot == 0) pivot = std::numeric_limits<double>::min();
    if (pivot < 0) ++count;
  }
  return count;
}

}  // namespace

double tridiagonal_eigenvalue(std::span<const double> diagonal, std::span<const double> coupling, std::size_t number) {
  double low = diagonal[0];
  double high = diagonal[0];
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double radius =
        (i == 0 ? 0 : std::abs(coupling[i - 1])) + (i + 1 == diagonal.size() ? 0 : std::abs(coupling[i]));
    low = std::min(low, diagonal[i] - radius);
    high = std::max(high, diagonal[i] + radius);
  }
  for (int halvings = 0; halvings < 100; ++halvings) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (count_below(diagonal, coupling, middle) > number ? high : low) = middle;
  }
  return low + (high - low) / 2;
}

template <class T>
Extremes lanczos(mpi::Context& context, const Operator<T>& a, std::span<const T> start, const LanczosOptions& options,
                 const std::function<void(std::span<T>)>& project) {
  auto [v, before, w] = mpi::agreed(context, [&] {
    std::vector<T> first(start.begin(), start.end());
    return std::array{std::move(first), std::vector<T>(start.size()), std::vector<T>(start.size())};
  });
  Dots dots(context, options.sums);
  const auto scaled = [](std::vector<T>& vector, double factor) {
    for (T& value : vector) value = static_cast<T>(static_cast<double>(value) * factor);
  };
  std::vector<double> diagonal, coupling;
  Extremes found;
  double scale = 0, beta = std::sqrt(dots.dot<T>(v, v));
  if (!(beta > 0)) return found;
  scaled(v, 1 / beta);
  beta = 0;
  for (Index step = 1, next = 8;; ++step) {
    a(v, w);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= static_cast<T>(beta) * before[i];
    const double alpha = dots.dot<T>(w, v);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= static_cast<T>(alpha) * v[i];
    if (project) project(w);
    beta = std::sqrt(dots.dot<T>(w, w));
    diagonal.push_back(alpha);
    scale = std::max({scale, std::abs(alpha), beta});
    constexpr double rounding = 1e-6;  // of floats, whose subspace has ended then
    const bool is_whole = !(beta > rounding * scale);
    if (step == next || is_whole || step >= options.most_steps) {
      const double low = tridiagonal_eigenvalue(diagonal, coupling, 0);
      const double high = tridiagonal_eigenvalue(diagonal, coupling, diagonal.size() - 1);
      const bool is_enough = std::abs(low - found.low) <= options.tolerance * std::abs(low) &&
                             std::abs(high - found.high) <= options.tolerance * std::abs(high);
      found = {low, high, step};
      if (is_enough || is_whole || step >= options.most_steps) return found;
      next += (next + 1) / 2;
    }
    coupling.push_back(beta);
    std::swap(before, v);
    std::swap(v, w);
    scaled(v, 1 / beta);
  }
}

template Extremes lanczos(mpi::Context&, const Operator<float>&, std::span<const float>, const LanczosOptions&,
                          const std::function<void(std::span<float>)>&);
template Extremes lanczos(mpi::Context&, const Operator<double>&, std::span<const double>, const LanczosOptions&,
                          const std::function<void(std::span<double>)>&);

}  // namespace plait::krylov
