#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"

namespace plait::sinkhorn {

/// What it costs to go from x to y.
enum class Metric : unsigned char {
  squared_euclidean,  ///< Σ_k |x_k - y_k|²
  euclidean,          ///< its root
  cityblock,          ///< Σ_k |x_k - y_k|
  minkowski,          ///< (Σ_k |x_k - y_k|^p)^(1/p); much slower than the others
  cosine,             ///< 1 - x·y / (|x| |y|)
};

/// "sqeuclidean", "euclidean", "cityblock", "minkowski", "cosine".
[[nodiscard]] std::string_view name(Metric metric) noexcept;

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
};

}  // namespace plait::sinkhorn
