#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"
#include "plait/partition/refine.hpp"

/// Parts from the levels of a search breadth first, and by exchanges of pairs.
namespace plait::partition {

/// Side 0 of the lower levels, until they weigh `wanted`: whole levels, where both sides then are within bounds, else
/// of the last one the vertices with the lowest numbers.
[[nodiscard]] std::vector<int> sides_by_levels(const graph::GraphView& graph, std::span<const graph::Vertex> level,
                                               const Bounds& bounds, Index wanted);

/// Two sides that exchange vertices: D(v) = weight of edges to the other side - weight of those to the own one.
class Exchange {
 public:
  Exchange(const graph::GraphView& graph, const Bounds& bounds, std::span<int> side);

  /// Exchanges the pair of free vertices with the largest gain, D(a) + D(b) - 2 w(a, b), again and again, each vertex
  /// once, and takes back what comes after the best state: the one with the least excess and, among these, the least
  /// cut. Returns by how much excess and cut fell; never worse.
  std::pair<Index, Index> pass();

  [[nodiscard]] std::span<const Index> differences() const noexcept { return difference_; }

 private:
  [[nodiscard]] std::pair<graph::Vertex, graph::Vertex> best_pair() const;
  [[nodiscard]] Index gain_of(graph::Vertex a, graph::Vertex b) const;
  [[nodiscard]] Index excess() const;
  void turn(graph::Vertex v);

  const graph::GraphView graph_;
  const Bounds& bounds_;
  const std::span<int> side_;
  std::vector<Index> difference_;  // D
  std::array<Index, 2> weight_{};
  std::vector<bool> is_free_;
  std::array<std::set<std::pair<Index, graph::Vertex>>, 2> free_;  // of each side: -D and the vertex
};

/// Passes until one is in vain.
/// Source: Kernighan, Lin, "An efficient heuristic procedure for partitioning graphs", 1970.
void kernighan_lin(const graph::GraphView& graph, const Bounds& bounds, std::span<int> side);

/// Parts by bisection after bisection, by levels from a vertex far out, after which pairs are exchanged or not.
/// \pre  1 <= parts <= vertices
[[nodiscard]] std::vector<int> by_levels(const graph::GraphView& graph, const Bounds& bounds, bool exchanges,
                                         std::uint64_t seed);

}  // namespace plait::partition
