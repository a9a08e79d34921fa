#include "plait/graph/mesh.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::graph {

const CellShape& shape_of(CellKind kind) {
  static constexpr std::array<CellShape, 8> shapes{{
      {0, 1, {}},
      {1, 2, {{{0, -1, -1, -1}, {1, -1, -1, -1}}}},
      {2, 3, {{{0, 1, -1, -1}, {1, 2, -1, -1}, {2, 0, -1, -1}}}},
      {2, 4, {{{0, 1, -1, -1}, {1, 2, -1, -1}, {2, 3, -1, -1}, {3, 0, -1, -1}}}},
      {3, 4, {{{0, 1, 2, -1}, {0, 1, 3, -1}, {0, 2, 3, -1}, {1, 2, 3, -1}}}},
      {3, 8, {{{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}}},
      {3, 6, {{{0, 1, 2, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}}}},
      {3, 5, {{{0, 1, 2, 3}, {0, 1, 4, -1}, {1, 2, 4, -1}, {2, 3, 4, -1}, {3, 0, 4, -1}}}},
  }};
  return shapes[static_cast<std::size_t>(kind)];
}

Graph dual_graph(const Mesh& mesh) {
  struct Face {
    std::array<Vertex, 4> corners;  // increasing; -1 first, where there are fewer
    Vertex cell;
    bool operator<(const Face& other) const { return std::pair(corners, cell) < std::pair(other.corners, other.cell); }
  };
  std::vector<Face> faces;
  for (Index cell = 0; cell < mesh.cells(); ++cell) {
    const auto corners = mesh.corners_of(cell);
    for (const auto& face : shape_of(mesh.kinds[cell]).faces) {
      if (face[0] == face[1]) break;  // the list has ended
      Face own{{-1, -1, -1, -1}, static_cast<Vertex>(cell)};
      for (std::size_t i = 0; i < 4; ++i)
        own.corners[i] = face[i] < 0 ? -1 : corners[static_cast<std::size_t>(face[i])];
      std::ranges::sort(own.corners);
      faces.push_back(own);
    }
  }
  std::sort(faces.begin(), faces.end());
  std::vector<std::pair<Vertex, Vertex>> pairs;
  for (std::size_t begin = 0, end = 0; begin < faces.size(); begin = end) {
    while (end < faces.size() && faces[end].corners == faces[begin].corners) ++end;
    if (static_cast<Index>(end - begin) > most_cells_of_face) {
      throw ArgumentError(fmt::format("a face of cell {} (counted from 0) belongs to {} cells; expected at most {}",
                                      faces[begin].cell, end - begin, most_cells_of_face));
    }
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = i + 1; j < end; ++j) pairs.emplace_back(faces[i].cell, faces[j].cell);
    }
  }
  return graph_of_pairs(mesh.cells(), pairs);
}

std::pair<std::vector<double>, int> centres_of(const Mesh& mesh) {
  std::vector<double> coordinates;
  const auto z = [&](Vertex node) { return mesh.places[3 * Index{node} + 2]; };
  const bool is_flat =
      std::ranges::all_of(mesh.corners, [&](Vertex node) { return z(node) == z(mesh.corners[Index{0}]); });
  const int dimensions = is_flat ? 2 : 3;
  for (Index cell = 0; cell < mesh.cells(); ++cell) {
    const auto corners = mesh.corners_of(cell);
    for (Index axis = 0; axis < dimensions; ++axis) {
      double sum = 0;
      for (const Vertex node : corners)
        sum += mesh.places[3 * Index{node} + axis] / static_cast<double>(corners.size());
      coordinates.push_back(sum);
    }
  }
  return {std::move(coordinates), dimensions};
}

}  // namespace plait::graph
