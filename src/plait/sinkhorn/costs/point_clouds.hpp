#pragma once

#include <string_view>

#include "plait/base/matrix_view.hpp"

namespace plait::sinkhorn {

/// What it costs to go from x to y.
enum class Metric : unsigned char {
  squared_euclidean,  ///< Σ_k |x_k - y_k|²
  euclidean,          ///< its root
  cityblock,          ///< Σ_k |x_k - y_k|
  minkowski,          ///< (Σ_k |x_k - y_k|^p)^(1/p); much slower than the others
};

/// "sqeuclidean", "euclidean", "cityblock", "minkowski".
[[nodiscard]] std::string_view name(Metric metric) noexcept;

/// Two clouds, a point a row.
template <class A>
struct PointClouds {
  matrix_view<const A> x;  // this rank's rows of the plan: M × d over all ranks, rank 0 has the first ones
  matrix_view<const A> y;  // all columns of the plan: N × d; the same on all ranks
  Metric metric = Metric::squared_euclidean;
  double p = 2;  // of minkowski: >= 1
};

}  // namespace plait::sinkhorn
