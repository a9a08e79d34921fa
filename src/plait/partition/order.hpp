#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"
#include "plait/mpi/context.hpp"

namespace plait::partition {

/// Vertices in an order in which eliminating them from a sparse symmetric matrix fills in few entries: nested
/// dissection. A separator cuts the graph into halves; they come first, each ordered in the same way, and then the
/// separator. Where it fills in less, a piece, or all, is ordered by least degree instead. Weights don't count. The
/// same for any number of ranks, among which halves are shared out. Collective over `context`: each rank sees the whole
/// graph, alike (see mpi::NodeCopy).
///
/// \pre  flaw_of(graph) has no value
/// Source: George, "Nested dissection of a regular finite element mesh", 1973.
[[nodiscard]] std::vector<graph::Vertex> nested_dissection(mpi::Context& context, const graph::GraphView& graph,
                                                           std::uint64_t seed);

/// What the Cholesky factor L of a matrix with the pattern of a graph takes, where vertices are eliminated in order.
struct Fill {
  Index entries = 0;      // of L, with its diagonal
  double operations = 0;  // Σ (entries of a column)²: multiplications and additions to compute L
  Index height = 0;       // of the elimination tree: columns that have to be computed one after the other
};
/// \pre  order has each vertex once
/// Source: Gilbert, Ng, Peyton, "An efficient algorithm to compute row and column counts for sparse Cholesky
/// factorization", 1994.
[[nodiscard]] Fill fill_of(const graph::GraphView& graph, std::span<const graph::Vertex> order);

}  // namespace plait::partition
