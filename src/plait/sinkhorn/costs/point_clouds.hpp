#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"

namespace plait::sinkhorn {

/// How far it is from x to y.
enum class Metric : unsigned char {
  squared_euclidean,  ///< Σ_k |x_k - y_k|²
  euclidean,          ///< its root
  cityblock,          ///< Σ_k |x_k - y_k|
  chebyshev,          ///< max_k |x_k - y_k|
  minkowski,          ///< (Σ_k |x_k - y_k|^p)^(1/p); slower than the others
  cosine,             ///< 1 - x·y / (|x| |y|)
};

/// "sqeuclidean", "euclidean", "cityblock", "chebyshev", "minkowski", "cosine", as SciPy's cdist has them.
[[nodiscard]] std::string_view name(Metric metric) noexcept;

/// A cost by differences of coordinates:  (Σ_k |x_k - y_k|^p)^(power / p),  of an infinite p the largest difference to
/// the power.
struct Norm {
  double p = 2;
  double power = 1;

  /// Whether it is a sum over so many coordinates.
  [[nodiscard]] bool is_sum(Index coordinates) const noexcept { return p == power || coordinates == 1; }
  /// \param difference  gives x_k - y_k for k
  template <class Difference>
  [[nodiscard]] double cost(Index coordinates, const Difference& difference) const;
};
/// Of points that are no directions: that of a metric with its p, to a power.
[[nodiscard]] Norm norm_of(Metric metric, double p, double power) noexcept;

/// The nodes of a regular grid, those of the last axis one after the other; axes beyond its dimensions have one node.
struct NodeGrid {
  int dimensions = 1;
  std::array<Index, 3> extents{1, 1, 1};
  std::array<double, 3> spacing{1, 1, 1};

  [[nodiscard]] Index nodes() const noexcept { return extents[0] * extents[1] * extents[2]; }
  [[nodiscard]] Index plane() const noexcept { return extents[1] * extents[2]; }  // of one node of the first axis
};

/// Two clouds, a point a row.
template <class A>
struct PointClouds {
  matrix_view<const A> x;  // this rank's rows of the plan: M × d over all ranks, rank 0 has the first ones
  matrix_view<const A> y;  // all columns of the plan: N × d; the same on all ranks
  Metric metric = Metric::squared_euclidean;
  double p = 2;  // of minkowski: >= 1
  /// Both clouds are these nodes, where there is a grid: x has as many rows as this rank has nodes, y as many as there
  /// are, and neither has coordinates.
  std::optional<NodeGrid> grid = {};
  Index first_node = 0;  // of this rank
  double power = 1;      // costs are the metric to this power: > 0

  [[nodiscard]] Norm norm() const noexcept { return norm_of(metric, p, power); }
};

template <class Difference>
double Norm::cost(Index coordinates, const Difference& difference) const {
  const auto raised = [](double number, double to) { return to == 1 ? number : std::pow(number, to); };
  const bool are_squares = p == 2;
  double sum = 0;
  if (are_squares || p == 1) {
    for (Index k = 0; k < coordinates; ++k) {
      const double t = difference(k);
      sum += are_squares ? t * t : std::abs(t);
    }
    return are_squares && power == 1 ? std::sqrt(sum) : raised(sum, power / p);
  }
  double largest = 0;  // parts of which to the power of p can't leave the range
  for (Index k = 0; k < coordinates; ++k) largest = std::max(largest, std::abs(difference(k)));
  if (largest == 0 || std::isinf(p)) return raised(largest, power);
  for (Index k = 0; k < coordinates; ++k) sum += std::pow(std::abs(difference(k)) / largest, p);
  return raised(largest * std::pow(sum, 1 / p), power);
}

}  // namespace plait::sinkhorn
