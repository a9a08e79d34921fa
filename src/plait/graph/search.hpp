#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "plait/graph/graph.hpp"

/// Searches breadth first.
namespace plait::graph {

/// The vertices that can be reached from the root without those that have a level, in the order of a search; they get
/// theirs: `first` of the root, and one more of what is one edge farther.
/// \param level   of each vertex; below 0: none
/// \param enough  ends the search at the vertex that makes them so many
[[nodiscard]] std::vector<Vertex> search(const GraphView& graph, Vertex root, Vertex first, std::span<Vertex> level,
                                         std::size_t enough = std::numeric_limits<std::size_t>::max());

/// The level of each vertex: how many edges it is from the root. No edge spans more than one level. What the root does
/// not reach comes after it, component by component, each with a root far out.
[[nodiscard]] std::vector<Vertex> levels_from(const GraphView& graph, Vertex root);

/// A vertex that is about as far from others as any in its component: one of the last level of a search, again and
/// again, as long as levels become more.
/// Source: George, Liu, "An implementation of a pseudoperipheral node finder", 1979.
[[nodiscard]] Vertex far_out(const GraphView& graph, Vertex in);

/// Fewest vertices that each edge between sides 0 and 1 has an end in, in order: by König's theorem, from a largest
/// matching of these edges.
[[nodiscard]] std::vector<Vertex> least_separator(const GraphView& graph, std::span<const int> side);

}  // namespace plait::graph
