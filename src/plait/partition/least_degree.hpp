#pragma once

#include <vector>

#include "plait/graph/graph.hpp"

namespace plait::partition {

/// The vertices below `own` in an order of elimination: that of least degree comes first, again and again, and its
/// neighbours become neighbours of each other. All others are eliminated later: they count in degrees. Degrees are
/// bounds, exact for most. Vertices of a very large degree come last.
///
/// Sources: Amestoy, Davis, Duff, "An approximate minimum degree ordering algorithm", 1996; of those that are
/// eliminated later: Pellegrini, Roman, Amestoy, "Hybridizing nested dissection and halo approximate minimum degree for
/// efficient sparse matrix ordering", 2000.
[[nodiscard]] std::vector<graph::Vertex> by_least_degree(const graph::GraphView& graph, graph::Vertex own);

}  // namespace plait::partition
