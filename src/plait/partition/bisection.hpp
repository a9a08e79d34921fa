#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/rounding.hpp"
#include "plait/graph/graph.hpp"
#include "plait/partition/refine.hpp"

/// Parts by halves, and these by halves again.
namespace plait::partition {

/// A bisection: one half is to become the parts [first, first + few()), the other one those up to first + parts.
struct Halving {
  int parts = 2;
  int first = 0;
  std::uint64_t seed = 0;

  [[nodiscard]] int few() const noexcept { return parts / 2; }
  [[nodiscard]] int many() const noexcept { return parts - few(); }
  /// What the first half should weigh.
  [[nodiscard]] Index wanted(Index total) const { return portion(total, few(), parts); }
};
/// The side, 0 or 1, of each vertex.
using Bisect = std::function<std::vector<int>(const graph::GraphView&, const Halving&)>;

/// Ranks that share a bisection: each of them finds the first halves, and then goes on with one of the two.
struct Team {
  int member = 0;
  int size = 1;
};
/// Halves with fewer vertices than parts are not cut. Parts that another member of the team finds are 0.
[[nodiscard]] std::vector<int> by_halves(const graph::GraphView& graph, const Halving& all, const Bisect& bisect,
                                         const Team& team = {});

/// What each half may weigh, of parts that may weigh `most_weight`: as much as is left of the imbalance, spread over
/// the bisections that are left.
[[nodiscard]] Bounds bounds_of(const Halving& halves, Index total, Index most_weight);

/// Vertices in the order of a value, those of one value by number.
using Line = std::vector<std::pair<double, graph::Vertex>>;

/// How many of the first vertices on the line weigh `wanted`, to the nearest one; `least` are on each side.
[[nodiscard]] std::size_t median(const graph::GraphView& graph, const Line& line, Index wanted,
                                 std::pair<Index, Index> least);
/// 0 of the first `place` vertices, 1 of the others.
[[nodiscard]] std::vector<int> sides_of(const Line& line, std::size_t place);

}  // namespace plait::partition
