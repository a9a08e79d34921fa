#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"
#include "plait/partition/bisection.hpp"
#include "plait/partition/refine.hpp"

namespace plait::partition {

class Levels;

/// Parts of a graph by coarsening, recursive bisection of the coarsest graph, and refinement on the way back.
/// Where numbers of neighbours are far apart, all graphs are numbered breadth first; of a large graph the coarse ones
/// alone, as a copy would take too much memory. What is numbered block by block is merged within blocks first.
///
/// \pre  1 <= parts <= vertices
/// Source: Karypis, Kumar, "Multilevel k-way partitioning scheme for irregular graphs", 1998.
class Multilevel {
 public:
  Multilevel(const graph::GraphView& graph, const Bounds& bounds, std::uint64_t seed);
  ~Multilevel();

  [[nodiscard]] graph::GraphView coarsest() const;
  /// Of several parts of the coarsest graph, once: those of the graph. What the best ones and the next ones have in
  /// common stays together while the best ones are improved; then these are refined on each level.
  ///
  /// Source: Sanders, Schulz, "Distributed evolutionary graph partitioning", ALENEX 2012 (combining two partitions).
  [[nodiscard]] std::vector<int> refined(std::vector<std::vector<int>> starts);

 private:
  const Bounds& bounds_;
  std::uint64_t seed_;
  std::vector<graph::Vertex> order_;  // the number of each renumbered vertex
  graph::Graph renumbered_;
  std::unique_ptr<Levels> levels_;
};

/// First parts of the coarsest graph, in several ways: as many as take less time than the rest.
class Starts {
 public:
  Starts(const graph::GraphView& graph, const graph::GraphView& coarsest, const Bounds& bounds, std::uint64_t seed);

  [[nodiscard]] int count() const noexcept { return count_; }
  /// Start number `start` by recursive bisection, of which each member of a team finds a piece: 0 in the others.
  [[nodiscard]] std::vector<int> bisected(int start, const Team& team) const;
  void refine(int start, std::span<int> part) const;

 private:
  graph::GraphView coarsest_;
  const Bounds& bounds_;
  std::uint64_t seed_;
  int count_;
};

/// Two sides without an edge between them, neither heavier than `most_weight` where such were found, and few vertices
/// between them: 0, 1 and 2 (see refine_separator).
[[nodiscard]] std::vector<int> separated(const graph::GraphView& graph, Index most_weight, std::uint64_t seed);

/// Pieces of about these weights, by bisection after bisection: as many as wanted, where there are as many vertices.
[[nodiscard]] std::vector<int> pieces_of(const graph::GraphView& graph, std::span<const Index> wanted, double imbalance,
                                         std::uint64_t seed);

/// Makes parts better on all levels of a coarsening in which no vertex has more than one part, nor, where they have
/// homes, more than one of these. Never worse; balanced where single moves can do that.
void improve(const graph::GraphView& graph, const Bounds& bounds, std::span<int> part, const Homes& homes,
             std::uint64_t seed);

}  // namespace plait::partition
