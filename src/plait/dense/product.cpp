#include "plait/dense/product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "plait/base/error.hpp"

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

ProductShape Factors::product_shape() const {
  const layout::Shape left = redistribute::apply(op_a, a.shape());
  const layout::Shape right = redistribute::apply(op_b, b.shape());
  if (left.columns != right.rows) {
    throw ShapeMismatch(fmt::format("op(A) is {} x {}, op(B) is {} x {}: there have to be as many columns as rows",
                                    left.rows, left.columns, right.rows, right.columns));
  }
  return {left.rows, right.columns, left.columns};
}

layout::Layout as_it_is_read(const layout::Layout& layout, Op op) {
  return redistribute::transposes(op) ? layout.transposed() : layout;
}

}  // namespace plait::dense
