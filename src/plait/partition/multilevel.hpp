#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"
#include "plait/partition/refine.hpp"

namespace plait::partition {

/// Parts of a graph by coarsening, recursive bisection of the coarsest graph, and refinement on the way back.
///
/// \pre  1 <= parts <= vertices
/// Source: Karypis, Kumar, "Multilevel k-way partitioning scheme for irregular graphs", 1998.
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
