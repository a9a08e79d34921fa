#pragma once

#include <cstddef>
#include <vector>

#include "plait/poisson/axis.hpp"

namespace plait::test {

/// The sides of an axis.
inline constexpr poisson::Axis::Sides given{poisson::Side::value, poisson::Side::value},
    flux{poisson::Side::flux, poisson::Side::flux}, around{poisson::Side::periodic, poisson::Side::periodic};

/// x with A x = b by Gaussian elimination; no pivots are needed, as A is symmetric and positive definite.
inline std::vector<double> eliminated(std::vector<double> a, std::vector<double> x) {
  const std::size_t n = x.size();
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t i = c + 1; i < n; ++i) {
      const double factor = a[i * n + c] / a[c * n + c];
      if (factor == 0) continue;
      for (std::size_t j = c; j < n; ++j) a[i * n + j] -= factor * a[c * n + j];
      x[i] -= factor * x[c];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
  return x;
}

}  // namespace plait::test
