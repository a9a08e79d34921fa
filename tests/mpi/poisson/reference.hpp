#pragma once

#include <cstddef>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/box.hpp"

namespace plait::test {

template <class F>
void for_each_point(const layout::Box& box, const F& f) {
  for (Index i = box.low[0]; i < box.high[0]; ++i) {
    for (Index j = box.low[1]; j < box.high[1]; ++j) {
      for (Index k = box.low[2]; k < box.high[2]; ++k) f(layout::Point{i, j, k});
    }
  }
}

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
