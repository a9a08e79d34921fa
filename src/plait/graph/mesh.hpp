#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/graph/graph.hpp"

/// Meshes of cells, and the graphs that they are.
namespace plait::graph {

/// What a cell is, with straight sides.
enum class CellKind : std::uint8_t { point, line, triangle, quadrangle, tetrahedron, hexahedron, prism, pyramid };

/// Its corners are numbered as by gmsh and by VTK: those of a base in turn, then those above.
struct CellShape {
  int dimension = 0;
  int corners = 0;
  std::array<std::array<std::int8_t, 4>, 6> faces{};  // each by its corners; -1: there is none
};
[[nodiscard]] const CellShape& shape_of(CellKind kind);

/// Cells of one dimension, and the places of their corners.
struct Mesh {
  Vector<double> places;     // x, y, z of each node
  Vector<CellKind> kinds;    // of each cell
  Vector<Vertex> corners;    // numbers of nodes, of all cells
  Vector<Index> offsets{0};  // cell c has corners[offsets[c]] up to corners[offsets[c + 1] - 1]

  [[nodiscard]] Index cells() const noexcept { return kinds.count(); }
  [[nodiscard]] std::span<const Vertex> corners_of(Index cell) const {
    return std::span(corners).subspan(at(offsets[cell]), at(offsets[cell + 1] - offsets[cell]));
  }
};

/// The graph in which cells are vertices, and those are neighbours that have a face in common: an edge of faces, an end
/// of lines.
///
/// \throws ArgumentError  a face belongs to more than `most_cells_of_face` cells
inline constexpr Index most_cells_of_face = 1000;
[[nodiscard]] Graph dual_graph(const Mesh& mesh);

/// The means of the corners, in three coordinates or, where all z are the same, in two.
/// With how many there are.
[[nodiscard]] std::pair<std::vector<double>, int> centres_of(const Mesh& mesh);

}  // namespace plait::graph
