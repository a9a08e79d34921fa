#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/parallel.hpp"
#include "plait/graph/graph.hpp"
#include "plait/partition/multilevel.hpp"

/// Graphs to cut, and what parts of them are worth by the definitions.
namespace plait::test {

using graph::Graph;
using graph::GraphView;
using graph::Vertex;

inline Graph grid(int columns, int rows) {
  std::vector<std::pair<Vertex, Vertex>> pairs;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      const Vertex v = y * columns + x;
      if (x + 1 < columns) pairs.emplace_back(v, v + 1);
      if (y + 1 < rows) pairs.emplace_back(v, v + columns);
    }
  }
  return graph::graph_of_pairs(Index{columns} * rows, pairs);
}

/// Of any shape: with isolated vertices, several components, stars.
inline Graph random_graph(std::mt19937& random, int vertices, bool with_weights) {
  std::vector<std::pair<Vertex, Vertex>> pairs;
  const auto n = static_cast<unsigned>(vertices);
  const unsigned edges = n == 0 ? 0 : static_cast<unsigned>(random() % (3 * n + 1));
  const bool has_hub = random() % 3 == 0;
  for (unsigned e = 0; e < edges; ++e) {
    pairs.emplace_back(has_hub ? random() % 2 * (random() % n) : random() % n, random() % n);
  }
  Graph result = graph::graph_of_pairs(vertices, pairs);
  if (!with_weights) return result;
  for (int v = 0; v < vertices; ++v) {
    result.vertex_weights.push_back(static_cast<Index>(random() % 5));
    result.vertex_sizes.push_back(static_cast<Index>(random() % 4));
    for (Index e = result.offsets[v]; e < result.offsets[v + 1]; ++e) {
      const Vertex u = result.neighbours[e];
      result.edge_weights.push_back(1 + (std::min(u, v) * 7 + std::max(u, v) * 13) % 9);
    }
  }
  return result;
}

inline Index naive_cut(const GraphView& graph, std::span<const int> part) {
  Index twice = 0;
  for (std::size_t v = 0; v < part.size(); ++v) {
    for (Index e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const auto u = static_cast<std::size_t>(graph.neighbours[at(e)]);
      if (part[u] != part[v]) twice += graph.edge_weights.empty() ? 1 : graph.edge_weights[at(e)];
    }
  }
  return twice / 2;
}

inline std::vector<Index> naive_weights(const GraphView& graph, std::span<const int> part, int parts) {
  std::vector<Index> weights(at(parts));
  for (std::size_t v = 0; v < part.size(); ++v) {
    weights[at(part[v])] += graph.vertex_weights.empty() ? 1 : graph.vertex_weights[v];
  }
  return weights;
}

/// Parts by the multilevel method on one rank.
inline std::vector<int> multilevel(const GraphView& graph, const partition::Bounds& bounds, std::uint64_t seed) {
  partition::Multilevel levels(graph, bounds, seed);
  const partition::Starts starts(graph, levels.coarsest(), bounds, seed);
  std::vector<std::vector<int>> found(at(starts.count()));
  in_tasks(0, starts.count(), 1, [&](int start) {
    found[at(start)] = starts.bisected(start, {});
    starts.refine(start, found[at(start)]);
  });
  return levels.refined(std::move(found));
}

inline bool all_parts_have_vertices(std::span<const int> part, int parts) {
  return std::set<int>(part.begin(), part.end()).size() == at(parts);
}

}  // namespace plait::test
