#include "plait/dense/product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace plait::dense {

double least_elements_received(const ProductShape& shape, int ranks) {
  std::array<double, 3> extents{static_cast<double>(shape.rows), static_cast<double>(shape.columns),
                                static_cast<double>(shape.terms)};
  std::ranges::sort(extents, std::greater());
  const auto [longest, middle, shortest] = extents;
  if (ranks <= 1 || shortest == 0) return 0;

  const double p = ranks;
  double accessed = 0;
  if (p <= longest / middle) {
    accessed = (longest * middle + longest * shortest) / p + middle * shortest;
  } else if (p <= longest * middle / (shortest * shortest)) {
    accessed = longest * middle / p + 2 * shortest * std::sqrt(longest * middle / p);
  } else {
    accessed = 3 * std::cbrt(std::pow(longest * middle * shortest / p, 2));
  }
  const double owned = (longest * middle + longest * shortest + middle * shortest) / p;
  return std::max(0.0, accessed - owned);
}

}  // namespace plait::dense
