#pragma once

#include <cstdint>
#include <span>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"

/// Graphs to cut, the same wherever they are made.
namespace plait::bench {

/// Which vertices of a grid are neighbours.
enum class Stencil : unsigned char {
  faces,    // differ by one in one coordinate
  corners,  // differ by one at most in each coordinate
};
/// \pre  two or three extents; vertices are numbered along the last axis first
[[nodiscard]] graph::Graph grid_graph(std::span<const int> extents, Stencil stencil);

/// A mesh of a cube: six tetrahedra in each cell of a grid of extent³, neighbours where they have a face in common.
[[nodiscard]] graph::Graph tetrahedra_graph(int extent);

/// Delaunay's triangulation of random points in a square, numbered at random.
[[nodiscard]] graph::Graph delaunay_graph(Index vertices, std::uint64_t seed);

/// Vertices that come one after the other and choose `edges` neighbours among those before them, by their degrees.
///
/// Source: Barabási, Albert, "Emergence of scaling in random networks", Science 286 (1999).
[[nodiscard]] graph::Graph power_law_graph(Index vertices, int edges, std::uint64_t seed);

/// The same graph, numbered at random.
[[nodiscard]] graph::Graph shuffled(const graph::Graph& graph, std::uint64_t seed);

}  // namespace plait::bench
