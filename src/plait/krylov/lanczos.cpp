#include "plait/krylov/lanczos.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "plait/mpi/agreed.hpp"

namespace plait::krylov {

namespace {

template <class T>
void name_options(const LanczosOptions& options, mpi::Alike& arguments) {
  arguments.add_type<T>();
  arguments.add("tolerance", options.tolerance);
  arguments.add("number of steps", options.most_steps);
  arguments.add("sums", options.sums);
}

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

std::vector<double> tridiagonal_eigenvector(std::span<const double> diagonal, std::span<const double> coupling,
                                            double value) {
  const std::size_t n = diagonal.size();
  double scale = std::numeric_limits<double>::min();
  for (std::size_t i = 0; i < n; ++i) scale = std::max({scale, std::abs(diagonal[i]), i + 1 < n ? coupling[i] : 0});
  const double least = std::numeric_limits<double>::epsilon() * scale;
  // Rows of the upper triangle, by elimination with pivots; and what was done to rows below them.
  std::vector<std::array<double, 3>> upper(n);
  std::vector<std::pair<bool, double>> done(n);
  std::array<double, 3> row{diagonal[0] - value, n > 1 ? coupling[0] : 0, 0};
  for (std::size_t i = 0; i + 1 < n; ++i) {
    std::array<double, 3> below{coupling[i], diagonal[i + 1] - value, i + 2 < n ? coupling[i + 1] : 0};
    done[i].first = std::abs(below[0]) > std::abs(row[0]);
    if (done[i].first) std::swap(row, below);
    if (row[0] == 0) row[0] = least;
    done[i].second = below[0] / row[0];
    upper[i] = row;
    row = {below[1] - done[i].second * row[1], below[2] - done[i].second * row[2], 0};
  }
  if (std::abs(row[0]) < least) row[0] = least;
  upper[n - 1] = row;
  std::vector<double> x(n, 1);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; round > 0 && i + 1 < n; ++i) {
      if (done[i].first) std::swap(x[i], x[i + 1]);
      x[i + 1] -= done[i].second * x[i];
    }
    double largest = 0;
    for (std::size_t i = n; i-- > 0;) {
      const double right = x[i] - (i + 1 < n ? upper[i][1] * x[i + 1] : 0) - (i + 2 < n ? upper[i][2] * x[i + 2] : 0);
      x[i] = right / upper[i][0];
      largest = std::max(largest, std::abs(x[i]));
    }
    double square = 0;
    for (double& element : x) {
      element /= largest;
      square += element * element;
    }
    for (double& element : x) element /= std::sqrt(square);
  }
  return x;
}

Eigenvalue lowest_eigenvector(mpi::Context& context, const Operator<double>& a, std::span<double> x,
                              const LanczosOptions& options, const std::function<void(std::span<double>)>& project) {
  auto memory = mpi::agreed(context, [&](mpi::Alike& arguments) {
    name_options<double>(options, arguments);
    const std::vector<double> zeros(x.size());
    return std::array{std::vector<double>(x.begin(), x.end()), zeros, zeros, zeros};
  });
  std::vector<double>&first = memory[0], &v = memory[1], &before = memory[2], &w = memory[3];
  Dots dots(context, options.sums);
  const auto add = [](std::span<double> to, double factor, std::span<const double> from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
  };
  const auto scale = [](std::span<double> vector, double factor) {
    for (double& value : vector) value *= factor;
  };
  project(first);
  const double length = std::sqrt(dots.dot<double>(first, first));
  if (!(length > 0)) return {};
  scale(first, 1 / length);
  std::vector<double> diagonal, coupling, share;
  Eigenvalue found;
  const auto step = [&](double beta) {
    a(v, w);
    add(w, -beta, before);
  };
  const auto shift = [&](double beta) {
    std::swap(before, v);
    std::swap(v, w);
    scale(v, 1 / beta);
  };
  v = first;
  double largest = 0;
  for (Index next = 8;;) {
    step(coupling.empty() ? 0 : coupling.back());
    diagonal.push_back(dots.dot<double>(w, v));
    add(w, -diagonal.back(), v);
    project(w);
    const double beta = std::sqrt(dots.dot<double>(w, w));
    largest = std::max({largest, std::abs(diagonal.back()), beta});
    const bool is_over = !(beta > 1e-10 * largest) || std::ssize(diagonal) >= options.most_steps;
    if (std::ssize(diagonal) == next || is_over) {
      found = {tridiagonal_eigenvalue(diagonal, coupling, 0), 0, std::ssize(diagonal)};
      share = tridiagonal_eigenvector(diagonal, coupling, found.value);
      const double enough = std::max(options.tolerance * std::abs(found.value), 1e-10 * largest);
      if (is_over || beta * std::abs(share.back()) <= enough) break;
      next += (next + 1) / 2;
    }
    coupling.push_back(beta);
    shift(beta);
  }
  std::ranges::fill(x, 0);
  std::ranges::fill(before, 0);
  v = first;
  for (std::size_t i = 0; i < share.size(); ++i) {
    add(x, share[i], v);
    if (i + 1 == share.size()) break;
    step(i == 0 ? 0 : coupling[i - 1]);
    add(w, -diagonal[i], v);
    project(w);
    shift(coupling[i]);
  }
  const double norm = std::sqrt(dots.dot<double>(x, x));
  if (norm > 0) scale(x, 1 / norm);
  a(x, w);
  add(w, -found.value, x);
  found.residual = std::sqrt(dots.dot<double>(w, w));
  return found;
}

template <class T>
Extremes lanczos(mpi::Context& context, const Operator<T>& a, std::span<const T> start, const LanczosOptions& options,
                 const std::function<void(std::span<T>)>& project) {
  auto [v, before, w] = mpi::agreed(context, [&](mpi::Alike& arguments) {
    name_options<T>(options, arguments);
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
