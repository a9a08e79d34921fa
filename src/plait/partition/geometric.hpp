#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"

namespace plait::partition {

/// Places of vertices, row by row: vertex v is at coordinates[v · dimensions] and on.
struct Points {
  std::span<const double> coordinates;
  int dimensions = 0;  // 2 or 3; 0: there are none

  [[nodiscard]] bool are_there() const noexcept { return dimensions > 0; }
  [[nodiscard]] const double* of(Index v) const { return coordinates.data() + v * dimensions; }
};

/// \throws ArgumentError  there are fewer or more than `vertices`, other than 2 or 3 dimensions, or one is not finite
void expect_points(const Points& points, Index vertices);

enum class Method : unsigned char;

/// Parts by places and weights alone, by the methods from Method::orb on. Parts of equal weights differ by one vertex
/// at most; coincident places are told apart by their numbers. Each part has a vertex.
///
/// \pre  1 <= parts <= vertices; weights are as many, or none: all 1
/// Sources: Berger, Bokhari, 1987 (orthogonal recursive bisection); Simon, 1991 (inertial); Warren, Salmon, 1993;
/// Singh, Holt, Totsuka, Gupta, Hennessy, 1995 (costzones); Skilling, "Programming the Hilbert curve", 2004.
[[nodiscard]] std::vector<int> by_geometry(Method method, const Points& points, const graph::Weights& weights,
                                           int parts);

}  // namespace plait::partition
