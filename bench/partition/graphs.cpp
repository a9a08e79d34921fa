#include "bench/partition/graphs.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "plait/base/random.hpp"
#include "plait/graph/mesh.hpp"
#include "plait/layout/curve.hpp"

namespace plait::bench {

using graph::Graph;
using graph::Vertex;
using Pairs = std::vector<std::pair<Vertex, Vertex>>;

Graph grid_graph(std::span<const int> extents, Stencil stencil) {
  const int rows = extents[extents.size() - 2];
  const int columns = extents.back();
  const int planes = extents.size() == 3 ? extents[0] : 1;
  const auto number = [&](int z, int y, int x) { return (z * rows + y) * columns + x; };
  Pairs pairs;
  for (int z = 0; z < planes; ++z) {
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        for (int step = 14; step < 27; ++step) {  // the half of the neighbours that have higher numbers
          const int dz = step / 9 - 1;
          const int dy = step / 3 % 3 - 1;
          const int dx = step % 3 - 1;
          if (stencil == Stencil::faces && dz * dz + dy * dy + dx * dx > 1) continue;
          if (z + dz >= planes || y + dy < 0 || y + dy >= rows || x + dx < 0 || x + dx >= columns) continue;
          pairs.emplace_back(number(z, y, x), number(z + dz, y + dy, x + dx));
        }
      }
    }
  }
  return graph::graph_of_pairs(Index{planes} * rows * columns, pairs);
}

Graph tetrahedra_graph(int extent) {
  graph::Mesh mesh;
  const int step = extent + 1;  // nodes along an edge
  std::array<int, 3> axes{1, step, step * step};
  for (int cube = 0; cube < extent * extent * extent; ++cube) {
    const int node = cube / (extent * extent) * axes[2] + cube / extent % extent * axes[1] + cube % extent;
    do {  // from a corner of the cube to the opposite one along its edges
      const int second = node + axes[0];
      mesh.corners.insert(mesh.corners.end(), {node, second, second + axes[1], second + axes[1] + axes[2]});
      mesh.kinds.push_back(graph::CellKind::tetrahedron);
      mesh.offsets.push_back(mesh.corners.count());
    } while (std::ranges::next_permutation(axes).found);
  }
  return graph::dual_graph(mesh);
}

namespace {

__extension__ using Wide = __int128;

/// A triangulation to which points are added, in whole numbers and so exactly.
///
/// Source: Lawson, "Software for C1 surface interpolation", 1977 (flips).
class Delaunay {
 public:
  struct Point {
    std::int64_t x = 0;
    std::int64_t y = 0;
  };

  /// \pre  0 <= coordinates < extent <= 2^24
  Delaunay(std::vector<Point> points, std::int64_t extent) : points_(std::move(points)) {
    const auto n = static_cast<Vertex>(points_.size());
    points_.insert(points_.end(), {{-8 * extent, -8 * extent}, {16 * extent, -8 * extent}, {-8 * extent, 16 * extent}});
    triangles_ = {{{n, n + 1, n + 2}, {-1, -1, -1}}};
  }

  void add(Vertex p) {
    while (true) {  // to the triangle that has p in it
      const Triangle& at_last = triangles_[at(last_)];
      int side = 0;
      while (side < 3 && turn(at_last.corner[at((side + 1) % 3)], at_last.corner[at((side + 2) % 3)], p) >= 0) ++side;
      if (side == 3) break;
      last_ = at_last.beyond[at(side)];
    }
    const auto [corner, beyond] = triangles_[at(last_)];
    const auto first = static_cast<int>(triangles_.size());
    const std::array<int, 3> pieces{last_, first, first + 1};
    triangles_.resize(triangles_.size() + 2);
    for (int i = 0; i < 3; ++i) {
      const int next = (i + 1) % 3;
      const int last = (i + 2) % 3;
      triangles_[at(pieces[at(i)])] = {{p, corner[at(next)], corner[at(last)]},
                                       {beyond[at(i)], pieces[at(next)], pieces[at(last)]}};
      relink(beyond[at(i)], last_, pieces[at(i)]);
    }
    flip_from(pieces);
  }

  [[nodiscard]] Pairs edges() const {
    const auto n = static_cast<Vertex>(points_.size()) - 3;
    Pairs pairs;
    for (const Triangle& triangle : triangles_) {
      for (std::size_t i = 0; i < 3; ++i) {
        const auto [from, to] = std::pair(triangle.corner[i], triangle.corner[(i + 1) % 3]);
        if (from < n && to < n) pairs.emplace_back(from, to);
      }
    }
    return pairs;
  }

 private:
  /// Corners anticlockwise; the triangle beyond the side that is opposite to each.
  struct Triangle {
    std::array<Vertex, 3> corner{};
    std::array<int, 3> beyond{};
  };

  // > 0: a, b, c turn left
  [[nodiscard]] std::int64_t turn(Vertex a, Vertex b, Vertex c) const {
    const auto [ax, ay] = points_[at(a)];
    const auto [bx, by] = points_[at(b)];
    const auto [cx, cy] = points_[at(c)];
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
  }
  [[nodiscard]] bool is_in_circle(const std::array<Vertex, 3>& corner, Vertex d) const {
    std::array<std::array<Wide, 3>, 3> row{};
    for (std::size_t i = 0; i < 3; ++i) {
      const Wide x = points_[at(corner[i])].x - points_[at(d)].x;
      const Wide y = points_[at(corner[i])].y - points_[at(d)].y;
      row[i] = {x, y, x * x + y * y};
    }
    Wide determinant = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& [next, last] = std::pair(row[(i + 1) % 3], row[(i + 2) % 3]);
      determinant += row[i][2] * (next[0] * last[1] - next[1] * last[0]);
    }
    return determinant > 0;
  }
  void relink(int triangle, int from, int to) {
    if (triangle >= 0) *std::ranges::find(triangles_[at(triangle)].beyond, from) = to;
  }
  void flip_from(std::span<const int> triangles) {
    std::vector<int> doubtful(triangles.begin(), triangles.end());
    while (!doubtful.empty()) {
      const int own = doubtful.back();
      doubtful.pop_back();
      const auto [corner, beyond] = triangles_[at(own)];
      const int other = beyond[0];
      if (other < 0) continue;
      const Triangle across = triangles_[at(other)];
      const auto j = at(std::ranges::find(across.beyond, own) - across.beyond.begin());
      const Vertex d = across.corner[j];
      if (!is_in_circle(corner, d)) continue;
      const int beside_b = across.beyond[(j + 1) % 3];
      const int beside_c = across.beyond[(j + 2) % 3];
      triangles_[at(own)] = {{corner[0], corner[1], d}, {beside_b, other, beyond[2]}};
      triangles_[at(other)] = {{corner[0], d, corner[2]}, {beside_c, beyond[1], own}};
      relink(beside_b, other, own);
      relink(beyond[1], own, other);
      doubtful.insert(doubtful.end(), {own, other});
    }
  }

  std::vector<Point> points_;
  std::vector<Triangle> triangles_;
  int last_ = 0;
};

}  // namespace

Graph delaunay_graph(Index vertices, std::uint64_t seed) {
  constexpr int bits = 24;
  std::vector<Delaunay::Point> points;
  std::vector<std::pair<std::uint64_t, Vertex>> order;
  for (Vertex v = 0; v < vertices; ++v) {
    const std::uint64_t random = random_bits(seed, static_cast<std::uint64_t>(v));
    const layout::Cell<2> cell{static_cast<std::uint32_t>(random >> (64U - bits)),
                               static_cast<std::uint32_t>((random << 32U) >> (64U - bits))};
    points.push_back({cell[0], cell[1]});
    order.emplace_back(layout::hilbert_key<2>(cell, bits), v);
  }
  std::ranges::sort(order);
  Delaunay delaunay(std::move(points), std::int64_t{1} << bits);
  std::uint64_t before = ~std::uint64_t{0};
  for (const auto& [key, v] : order) {
    if (std::exchange(before, key) != key) delaunay.add(v);
  }
  return graph::graph_of_pairs(vertices, delaunay.edges());
}

Graph power_law_graph(Index vertices, int edges, std::uint64_t seed) {
  Pairs pairs;
  std::vector<Vertex> ends{0};  // each vertex as often as it has neighbours
  for (Vertex v = 1; v < vertices; ++v) {
    const std::size_t known = ends.size();
    for (int e = 0; e < edges; ++e) {
      const Vertex u = ends[random_bits(seed, static_cast<std::uint64_t>(pairs.size())) % known];
      pairs.emplace_back(v, u);
      ends.insert(ends.end(), {v, u});
    }
  }
  return graph::graph_of_pairs(vertices, pairs);
}

Graph shuffled(const Graph& graph, std::uint64_t seed) {
  std::vector<std::pair<std::uint64_t, Vertex>> order;
  for (Vertex v = 0; v < graph.view().vertices(); ++v) order.emplace_back(random_bits(seed, at(v)), v);
  std::ranges::sort(order);
  std::vector<Vertex> names;
  for (const auto& [key, v] : order) names.push_back(v);
  std::vector<Vertex> number(names.size());
  return graph::subgraph(graph.view(), names, number);
}

}  // namespace plait::bench
