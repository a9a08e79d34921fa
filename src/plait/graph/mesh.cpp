#include "plait/graph/mesh.hpp"

#include <algorithm>
#include <numeric>
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
  // The cells at each node: those of a face meet at the lowest of its corners.
  const Index nodes = mesh.corners.empty() ? 0 : Index{std::ranges::max(mesh.corners)} + 1;
  Vector<Index> next(nodes + 1, 0);
  for (const Vertex node : mesh.corners) ++next[node + Index{1}];
  std::partial_sum(next.begin(), next.end(), next.begin());
  Vector<Vertex> cells(mesh.corners.count());
  for (Index cell = 0; cell < mesh.cells(); ++cell) {
    for (const Vertex node : mesh.corners_of(cell)) cells[next[node]++] = static_cast<Vertex>(cell);
  }
  using Face = std::pair<std::array<Vertex, 4>, Vertex>;  // increasing, -1 first, where there are fewer; and the cell
  std::vector<Face> faces;
  std::vector<std::pair<Vertex, Vertex>> pairs;
  pairs.reserve(mesh.corners.size() / 2);
  for (Index node = 0, from = 0; node < nodes; from = next[node++]) {
    faces.clear();
    for (Index i = from; i < next[node]; ++i) {
      const Vertex cell = cells[i];
      if (i > from && cells[i - 1] == cell) continue;  // has the node twice
      const auto corners = mesh.corners_of(cell);
      for (const auto& face : shape_of(mesh.kinds[cell]).faces) {
        if (face[0] == face[1]) break;  // the list has ended
        std::array<Vertex, 4> own{-1, -1, -1, -1};
        Vertex lowest = graph::most_vertices;
        for (std::size_t c = 0; c < 4; ++c) {
          if (face[c] < 0) continue;
          own[c] = corners[static_cast<std::size_t>(face[c])];
          lowest = std::min(lowest, own[c]);
        }
        if (lowest != node) continue;
        std::ranges::sort(own);
        faces.emplace_back(own, cell);
      }
    }
    std::sort(faces.begin(), faces.end());
    for (std::size_t begin = 0, end = 0; begin < faces.size(); begin = end) {
      while (end < faces.size() && faces[end].first == faces[begin].first) ++end;
      if (static_cast<Index>(end - begin) > most_cells_of_face) {
        throw ArgumentError(fmt::format("a face of cell {} (counted from 0) belongs to {} cells; expected at most {}",
                                        faces[begin].second, end - begin, most_cells_of_face));
      }
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t j = i + 1; j < end; ++j) pairs.emplace_back(faces[i].second, faces[j].second);
      }
    }
  }
  cells = {};
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
