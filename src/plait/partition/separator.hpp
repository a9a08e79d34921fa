#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"

/// Vertices without which a graph falls into two sides: side[v] is 0 or 1, or 2 of those that are taken out.
namespace plait::partition {

/// Takes out the lightest level of a search breadth first from a vertex far out, among those that leave no side heavier
/// than `most`. Empty, where none does.
/// Source: George, Liu, "An automatic nested dissection algorithm for irregular finite element problems", 1978.
[[nodiscard]] std::vector<int> separated_by_level(const graph::GraphView& graph, Index most);

[[nodiscard]] Index separator_weight(const graph::GraphView& graph, std::span<const int> side);

/// Makes the separator lighter: its vertices go to a side, and pull their neighbours on the other side out. A search
/// always takes the best move that leaves no side heavier than `most`, even if it is worse, and what comes after the
/// best state is taken back.
///
/// \pre  no edge joins sides 0 and 1
/// Source: Ashcraft, Liu, "Using domain decomposition to find graph bisectors", 1997; Hendrickson, Rothberg, 1998.
void refine_separator(const graph::GraphView& graph, Index most, std::span<int> side);

}  // namespace plait::partition
