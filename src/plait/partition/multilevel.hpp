#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"
#include "plait/partition/bisection.hpp"
#include "plait/partition/coarsen.hpp"
#include "plait/partition/refine.hpp"

namespace plait::partition {

class Levels;

/// Parts of a graph by coarsening, recursive bisection of the coarsest graph, and refinement on the way back. Ranks
/// share the coarsening, and rank 0 refines. Where numbers of neighbours are far apart, the vertices of the first
/// coarse graph are numbered breadth first.
///
/// \pre  1 <= parts <= vertices
/// Source: Karypis, Kumar, "Multilevel k-way partitioning scheme for irregular graphs", 1998.
class Multilevel {
 public:
  /// Collective.
  Multilevel(const Ranks& ranks, const graph::GraphView& graph, const Bounds& bounds, std::uint64_t seed);
  ~Multilevel();

  /// On all ranks.
  [[nodiscard]] graph::GraphView coarsest() const;
  /// Takes parts of the coarsest graph, and refines them as long as ranks have to make graphs again that were too large
  /// to keep. Collective.
  void begin(std::vector<int> part);
  /// On rank 0, after `begin`: the parts of the graph.
  [[nodiscard]] std::vector<int> refined();

 private:
  const Bounds& bounds_;
  std::uint64_t seed_;
  Ranks ranks_;
  std::unique_ptr<Levels> levels_;
  std::vector<int> part_;
};

/// First parts of the coarsest graph, in several ways, of which the best one is refined: as many as take less time than
/// the rest.
class Starts {
 public:
  Starts(const graph::GraphView& graph, const graph::GraphView& coarsest, const Bounds& bounds, std::uint64_t seed);

  [[nodiscard]] int count() const noexcept { return count_; }
  /// Start number `start` by recursive bisection, of which each member of a team finds a piece: 0 in the others.
  [[nodiscard]] std::vector<int> bisected(int start, const Team& team) const;
  /// Makes a start better; its excess and cut, of which the least are best.
  std::pair<Index, Index> refine(int start, std::span<int> part) const;

 private:
  graph::GraphView coarsest_;
  const Bounds& bounds_;
  std::uint64_t seed_;
  int count_;
};

/// All of that, by one rank.
[[nodiscard]] std::vector<int> multilevel(const graph::GraphView& graph, const Bounds& bounds, std::uint64_t seed);

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
