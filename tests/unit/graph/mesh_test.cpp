#include "plait/graph/mesh.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"

namespace plait::graph {
namespace {

void add(Mesh& mesh, CellKind kind, const std::vector<Vertex>& corners) {
  mesh.kinds.push_back(kind);
  mesh.corners.insert(mesh.corners.end(), corners.begin(), corners.end());
  mesh.offsets.push_back(mesh.corners.count());
}

/// Cells have a face in common that have as many corners in common as a face has: of these meshes.
std::set<std::pair<Vertex, Vertex>> naive_edges(const Mesh& mesh) {
  std::set<std::pair<Vertex, Vertex>> edges;
  for (Index a = 0; a < mesh.cells(); ++a) {
    for (Index b = 0; b < mesh.cells(); ++b) {
      int common = 0;
      for (const Vertex node : mesh.corners_of(a)) {
        const auto others = mesh.corners_of(b);
        common += std::ranges::find(others, node) != others.end() ? 1 : 0;
      }
      if (a != b && common >= shape_of(mesh.kinds[a]).dimension) edges.emplace(a, b);
    }
  }
  return edges;
}

std::set<std::pair<Vertex, Vertex>> edges_of(const Graph& graph) {
  std::set<std::pair<Vertex, Vertex>> edges;
  for (Vertex v = 0; v < graph.view().vertices(); ++v) {
    graph.view().for_each_neighbour(v, [&](Vertex u, Index) { edges.emplace(v, u); });
  }
  return edges;
}

/// Cubes of a lattice, each a hexahedron, two prisms, three pyramids or five tetrahedra.
Mesh cubes(int edge, CellKind kind) {
  Mesh mesh;
  const int nodes = edge + 1;
  for (int i = 0; i < nodes * nodes * nodes; ++i) {
    for (const int c : {i % nodes, i / nodes % nodes, i / nodes / nodes}) mesh.places.push_back(c);
  }
  for (int i = 0; i < edge * edge * edge; ++i) {
    const int x = i % edge, y = i / edge % edge, z = i / edge / edge;
    std::vector<Vertex> n;
    for (const auto& [a, b, c] :
         {std::tuple(0, 0, 0), {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}) {
      n.push_back(((z + c) * nodes + y + b) * nodes + x + a);
    }
    if (kind == CellKind::hexahedron) add(mesh, kind, n);
    if (kind == CellKind::prism) {
      add(mesh, kind, {n[0], n[1], n[2], n[4], n[5], n[6]});
      add(mesh, kind, {n[0], n[2], n[3], n[4], n[6], n[7]});
    }
    if (kind == CellKind::pyramid) {
      add(mesh, kind, {n[0], n[1], n[2], n[3], n[6]});
      add(mesh, kind, {n[0], n[1], n[5], n[4], n[6]});
      add(mesh, kind, {n[0], n[3], n[7], n[4], n[6]});
    }
    if (kind == CellKind::tetrahedron) {  // Kuhn's
      for (const auto& [a, b] : {std::pair(1, 2), {2, 3}, {3, 7}, {7, 4}, {4, 5}, {5, 1}}) {
        add(mesh, kind, {n[0], n[at(a)], n[at(b)], n[6]});
      }
    }
  }
  return mesh;
}

TEST(DualGraph, JoinsCellsWithACommonFaceOfEachKind) {
  for (const auto kind : {CellKind::hexahedron, CellKind::prism, CellKind::pyramid, CellKind::tetrahedron}) {
    const Mesh mesh = cubes(kind == CellKind::pyramid ? 1 : 3, kind);  // pyramids of neighbours do not fit
    EXPECT_EQ(edges_of(dual_graph(mesh)), naive_edges(mesh)) << static_cast<int>(kind);
  }
  Mesh flat;
  add(flat, CellKind::quadrangle, {0, 1, 2, 3});
  add(flat, CellKind::triangle, {1, 4, 2});
  add(flat, CellKind::triangle, {2, 5, 1});  // three cells have this edge
  add(flat, CellKind::quadrangle, {6, 7, 2, 4});
  EXPECT_EQ(edges_of(dual_graph(flat)), naive_edges(flat));
  Mesh lines;
  for (const auto& [a, b] : {std::pair(0, 1), {1, 2}, {3, 1}, {4, 5}}) add(lines, CellKind::line, {a, b});
  EXPECT_EQ(edges_of(dual_graph(lines)), naive_edges(lines));
}

TEST(DualGraph, OfNoCellsAndOfOneThatTouchesItselfHasNoEdges) {
  EXPECT_EQ(dual_graph({}).offsets, (Vector<Index>{0}));
  Mesh mesh;
  add(mesh, CellKind::triangle, {0, 1, 0});
  EXPECT_EQ(dual_graph(mesh).offsets, (Vector<Index>{0, 0}));
}

TEST(DualGraph, RefusesFacesOfVeryManyCells) {
  Mesh mesh;
  for (Vertex v = 1; v <= 1001; ++v) add(mesh, CellKind::line, {0, v});
  EXPECT_THROW(static_cast<void>(dual_graph(mesh)), ArgumentError);
}

TEST(CentresOfCells, AreMeansOfCornersInTwoOrThreeCoordinates) {
  Mesh mesh{{0, 0, 5, 1, 0, 5, 0, 2, 5, 0, 0, 8}, {}, {}, {0}};
  add(mesh, CellKind::triangle, {0, 1, 2});
  const auto [flat, two] = centres_of(mesh);
  EXPECT_EQ(two, 2);
  EXPECT_NEAR(flat[0], 1. / 3, 1e-15);
  EXPECT_NEAR(flat[1], 2. / 3, 1e-15);
  add(mesh, CellKind::tetrahedron, {0, 1, 2, 3});
  const auto [deep, three] = centres_of(mesh);
  EXPECT_EQ(three, 3);
  EXPECT_EQ(std::vector(deep.begin() + 3, deep.end()), (std::vector<double>{.25, .5, 5.75}));
}

}  // namespace
}  // namespace plait::graph
