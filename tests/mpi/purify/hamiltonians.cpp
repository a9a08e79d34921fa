#include "mpi/purify/hamiltonians.hpp"

#include <array>
#include <cmath>

#include "plait/base/random.hpp"

namespace plait::test {

namespace {

double conjugate(double value) { return value; }
std::complex<double> conjugate(const std::complex<double>& value) { return std::conj(value); }

template <class T>
T random_element(std::uint64_t seed, std::uint64_t counter) {
  const double a = random_uniform(seed, 2 * counter) - 0.5;
  if constexpr (std::is_same_v<T, double>) {
    return a;
  } else {
    return {a, random_uniform(seed, 2 * counter + 1) - 0.5};
  }
}

}  // namespace

Whole<double> polyacetylene(Index n, double short_bond, double long_bond) {
  Whole<double> h{n};
  for (Index i = 0; i + 1 < n; ++i) h(i, i + 1) = h(i + 1, i) = -(i % 2 == 0 ? short_bond : long_bond);
  return h;
}

Whole<double> gapped_graphene(Index rows, Index columns, double raised) {
  Whole<double> h{2 * rows * columns};
  const auto site = [&](Index i, Index j, Index which) {
    return 2 * ((i + rows) % rows * columns + (j + columns) % columns) + which;
  };
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const Index a = site(i, j, 0);
      h(a, a) = raised;
      h(a + 1, a + 1) = -raised;
      for (const Index b : {site(i, j, 1), site(i - 1, j, 1), site(i, j - 1, 1)}) {
        h(a, b) -= 1;
        h(b, a) -= 1;
      }
    }
  }
  return h;
}

Whole<double> c60() {
  // The vertices are the even permutations of (0, ±1, ±3φ), (±1, ±(2 + φ), ±2φ), (±φ, ±2, ±(2φ + 1)); edges have
  // length 2.
  const double phi = (1 + std::sqrt(5.0)) / 2;
  const std::array<std::array<double, 3>, 3> bases{{{0, 1, 3 * phi}, {1, 2 + phi, 2 * phi}, {phi, 2, 2 * phi + 1}}};
  std::vector<std::array<double, 3>> vertices;
  for (const auto& base : bases) {
    for (unsigned signs = 0; signs < 8; ++signs) {
      if (base[0] == 0 && (signs & 1U) != 0) continue;
      for (std::size_t turn = 0; turn < 3; ++turn) {
        std::array<double, 3> vertex{};
        for (std::size_t k = 0; k < 3; ++k) vertex[(k + turn) % 3] = (signs >> k & 1U) != 0 ? -base[k] : base[k];
        vertices.push_back(vertex);
      }
    }
  }
  Whole<double> h{static_cast<Index>(vertices.size())};
  for (std::size_t a = 0; a < vertices.size(); ++a) {
    for (std::size_t b = 0; b < vertices.size(); ++b) {
      double distance = 0;
      for (std::size_t k = 0; k < 3; ++k) distance += std::pow(vertices[a][k] - vertices[b][k], 2);
      if (std::abs(distance - 4) < 1e-6) h(static_cast<Index>(a), static_cast<Index>(b)) = -1;
    }
  }
  return h;
}

template <class T>
Whole<T> prescribed(const std::vector<double>& eigenvalues, int seed) {
  const auto n = static_cast<Index>(eigenvalues.size());
  Whole<T> h{n};
  for (Index i = 0; i < n; ++i) h(i, i) = eigenvalues[static_cast<std::size_t>(i)];
  for (std::uint64_t reflection = 0; reflection < 4; ++reflection) {
    std::vector<T> v(eigenvalues.size());
    double length = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      v[i] = random_element<T>(static_cast<std::uint64_t>(seed), reflection * 1000003 + i);
      length += std::norm(v[i]);
    }
    // H ← (I - 2vvᴴ) H (I - 2vvᴴ) = H - 2v(wᴴ) - 2w(vᴴ) + 4(vᴴw)vvᴴ with w = Hv
    std::vector<T> w(v.size());
    for (T& value : v) value /= std::sqrt(length);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) w[static_cast<std::size_t>(i)] += h(i, j) * v[static_cast<std::size_t>(j)];
    }
    T overlap{};
    for (std::size_t i = 0; i < v.size(); ++i) overlap += conjugate(v[i]) * w[i];
    for (std::size_t j = 0; j < v.size(); ++j) {
      for (std::size_t i = 0; i < v.size(); ++i) {
        h(static_cast<Index>(i), static_cast<Index>(j)) +=
            -2.0 * (v[i] * conjugate(w[j]) + w[i] * conjugate(v[j])) + 4.0 * overlap * v[i] * conjugate(v[j]);
      }
    }
  }
  for (Index j = 0; j < n; ++j) {  // symmetric to the last bit
    for (Index i = 0; i < j; ++i) h(j, i) = conjugate(h(i, j));
    h(j, j) = std::real(h(j, j));
  }
  return h;
}

template Whole<double> prescribed(const std::vector<double>&, int);
template Whole<std::complex<double>> prescribed(const std::vector<double>&, int);

std::vector<double> spectrum_with_gap(Index states, Index occupied, double gap) {
  std::vector<double> result;
  const double step = (1 - gap) / static_cast<double>(states - 2);
  for (Index i = 0; i < states; ++i) {
    result.push_back(static_cast<double>(i < occupied ? i : i - 1) * step + (i < occupied ? 0 : gap));
  }
  return result;
}

}  // namespace plait::test
