#include "plait/graph/graph.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"

namespace plait::graph {

namespace {

/// All edges turned round: neighbours increase, and an edge twice stays twice.
Graph turned(const GraphView& graph) {
  const Index n = graph.vertices();
  Graph result;
  result.offsets = Vector<Index>(n + 1, 0);
  for (const Vertex u : graph.neighbours) ++result.offsets[u + Index{1}];
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  const auto ends = static_cast<Index>(graph.neighbours.size());
  result.neighbours = Vector<Vertex>(ends);
  const bool has_weights = !graph.edge_weights.empty();
  if (has_weights) result.edge_weights = Vector<Index>(ends);
  Vector<Index> place = result.offsets;
  for (Index v = 0; v < n; ++v) {
    graph.for_each_neighbour(v, [&](Vertex u, Index weight) {
      const Index to = place[u]++;
      result.neighbours[to] = static_cast<Vertex>(v);
      if (has_weights) result.edge_weights[to] = weight;
    });
  }
  return result;
}

// Edges that have the same two ends and weights cancel if they point in opposite directions. Where not all do, the sum
// of their hashes is 0 with a probability of 2^-64.
bool all_edges_cancel(const GraphView& graph) {
  std::uint64_t sum = 0;
  for (Index v = 0; v < graph.vertices(); ++v) {
    graph.for_each_neighbour(v, [&](Vertex u, Index weight) {
      const Index low = std::min(v, Index{u});
      const Index high = std::max(v, Index{u});
      const std::uint64_t edge =
          random_bits(static_cast<std::uint64_t>(weight),
                      (static_cast<std::uint64_t>(low) << 32U) | static_cast<std::uint64_t>(high));
      sum += v < u ? edge : -edge;
    });
  }
  return sum == 0;
}

std::optional<Flaw> flaw_at_one_end(const GraphView& graph) {
  Vector<Vertex> seen_by(graph.vertices(), -1);
  std::optional<Flaw> flaw;
  for (Index v = 0; v < graph.vertices() && !flaw; ++v) {
    graph.for_each_neighbour(v, [&](Vertex u, Index) {
      if (flaw) return;
      if (u == v) flaw = Flaw{Flaw::Kind::self_loop, v, u};
      if (seen_by[u] == v) flaw = Flaw{Flaw::Kind::twice, v, u};
      seen_by[u] = static_cast<Vertex>(v);
    });
  }
  return flaw;
}

void expect_weights(std::string_view what, const Weights& weights, Index count, Index least) {
  if (weights.empty()) return;
  if (static_cast<Index>(weights.size()) != count) {
    throw ArgumentError(fmt::format("{} {}; expected {}", weights.size(), what, count));
  }
  Index sum = 0;
  for (Index i = 0; i < count; ++i) {
    const Index weight = weights[at(i)];
    if (weight < least)
      throw ArgumentError(fmt::format("number {} of the {} is {}; expected {} at least", i, what, weight, least));
    if (weight > most_weight - sum) {
      throw ArgumentError(fmt::format("the {} add up to more than 2^62 at number {}, {}", what, i, weight));
    }
    sum += weight;
  }
}

}  // namespace

void PackedWeights::append(std::span<const Index> weights) {
  if (wide_.empty() && std::ranges::all_of(weights, [](Index weight) { return weight <= 0xFFFF; })) {
    narrow_.insert(narrow_.end(), weights.begin(), weights.end());
    return;
  }
  if (wide_.empty()) {
    wide_.reserve(narrow_.capacity());
    wide_.assign(narrow_.begin(), narrow_.end());
    narrow_ = std::vector<std::uint16_t>();  // {} would keep the memory
  }
  wide_.insert(wide_.end(), weights.begin(), weights.end());
}

Index GraphView::total_weight() const {
  if (vertex_weights.empty()) return vertices();
  return vertex_weights.with([](auto weights) { return std::reduce(weights.begin(), weights.end(), Index{0}); });
}

Index GraphView::total_size() const {
  return vertex_sizes.empty() ? vertices() : std::reduce(vertex_sizes.begin(), vertex_sizes.end(), Index{0});
}

std::optional<Flaw> flaw_of(const GraphView& graph) {
  const auto at_one_end = flaw_at_one_end(graph);
  if (at_one_end || all_edges_cancel(graph)) return at_one_end;
  const Graph other = turned(graph);
  const Graph same = turned(other.view());
  for (Index v = 0; v < graph.vertices(); ++v) {
    // Both are sorted: what v has, and who has v.
    Index i = same.offsets[v];
    Index j = other.offsets[v];
    while (i < same.offsets[v + 1] || j < other.offsets[v + 1]) {
      const Index to = i < same.offsets[v + 1] ? same.neighbours[i] : most_vertices;
      const Index from = j < other.offsets[v + 1] ? other.neighbours[j] : most_vertices;
      if (to < from) return Flaw{Flaw::Kind::one_way, v, to};
      if (from < to) return Flaw{Flaw::Kind::one_way, from, v};
      if (same.view().edge_weight(i++) != other.view().edge_weight(j++)) return Flaw{Flaw::Kind::weights_differ, v, to};
    }
  }
  return std::nullopt;
}

Graph symmetrised(Graph graph) {
  const Graph other = turned(graph.view());
  const Graph same = turned(other.view());
  const bool has_weights = !graph.edge_weights.empty();
  const Index n = graph.view().vertices();
  graph.neighbours.clear();
  graph.edge_weights.clear();
  for (Index v = 0; v < n; ++v) {
    Index i = same.offsets[v];
    Index j = other.offsets[v];
    const Index begin = graph.neighbours.count();
    while (i < same.offsets[v + 1] || j < other.offsets[v + 1]) {
      const bool mine =
          j == other.offsets[v + 1] || (i < same.offsets[v + 1] && same.neighbours[i] <= other.neighbours[j]);
      const Vertex u = mine ? same.neighbours[i] : other.neighbours[j];
      const Index weight = mine ? same.view().edge_weight(i++) : other.view().edge_weight(j++);
      if (u == v) continue;
      if (graph.neighbours.count() > begin && graph.neighbours.back() == u) {
        if (has_weights) graph.edge_weights.back() = std::max(graph.edge_weights.back(), weight);
        continue;
      }
      graph.neighbours.push_back(u);
      if (has_weights) graph.edge_weights.push_back(weight);
    }
    graph.offsets[v] = begin;
  }
  graph.offsets[n] = graph.neighbours.count();
  return graph;
}

void expect_graph(const GraphView& graph) {
  if (graph.offsets.empty()) throw ArgumentError("no offsets; expected one more than vertices");
  const Index n = graph.vertices();
  const auto ends = static_cast<Index>(graph.neighbours.size());
  if (n > most_vertices) throw ArgumentError(fmt::format("{} vertices; expected at most {}", n, most_vertices));
  if (graph.offsets.front() != 0 || graph.offsets.back() != ends || !std::ranges::is_sorted(graph.offsets)) {
    throw ArgumentError(fmt::format("offsets must increase from 0 to {}, the number of neighbours", ends));
  }
  const auto outside = std::ranges::find_if(graph.neighbours, [&](Vertex u) { return u < 0 || u >= n; });
  if (outside != graph.neighbours.end()) {
    throw ArgumentError(fmt::format("a neighbour is {}; expected numbers from 0 to {}", *outside, n - 1));
  }
  expect_weights("weights of edges' ends", graph.edge_weights, ends, 1);
  expect_weights("weights of vertices", graph.vertex_weights, n, 0);
  expect_weights("sizes of vertices", graph.vertex_sizes, n, 0);
  const auto flaw = flaw_of(graph);
  if (!flaw) return;
  switch (flaw->kind) {
    case Flaw::Kind::self_loop: throw ArgumentError(fmt::format("vertex {} is its own neighbour", flaw->v));
    case Flaw::Kind::twice: throw ArgumentError(fmt::format("vertex {} has the neighbour {} twice", flaw->v, flaw->u));
    case Flaw::Kind::one_way:
      throw ArgumentError(
          fmt::format("vertex {} has the neighbour {}, which does not have {}", flaw->v, flaw->u, flaw->v));
    case Flaw::Kind::weights_differ:
      throw ArgumentError(fmt::format("the edge of vertices {} and {} has two weights", flaw->v, flaw->u));
  }
}

Graph graph_of_pairs(Index vertices, std::span<const std::pair<Vertex, Vertex>> pairs) {
  Graph graph;
  // While neighbours are put there, offsets[v + 1] is the next place of v's.
  graph.offsets = Vector<Index>(vertices + 2, 0);
  for (const auto& [from, to] : pairs) {
    if (from == to) continue;
    ++graph.offsets[from + Index{2}];
    ++graph.offsets[to + Index{2}];
  }
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  graph.neighbours = Vector<Vertex>(graph.offsets.back());
  for (const auto& [from, to] : pairs) {
    if (from == to) continue;
    graph.neighbours[graph.offsets[from + Index{1}]++] = to;
    graph.neighbours[graph.offsets[to + Index{1}]++] = from;
  }
  graph.offsets.pop_back();
  auto end = graph.neighbours.begin();
  Index next = 0;
  for (Index v = 0; v < vertices; ++v) {
    const auto first = graph.neighbours.begin() + std::exchange(next, graph.offsets[v + 1]);
    const auto last = graph.neighbours.begin() + next;
    std::sort(first, last);
    end = std::copy(first, std::unique(first, last), end);
    graph.offsets[v + 1] = end - graph.neighbours.begin();
  }
  graph.neighbours.erase(end, graph.neighbours.end());
  return graph;
}

Graph subgraph(const GraphView& graph, std::span<const Vertex> vertices, std::span<Vertex> number) {
  std::ranges::fill(number, -1);
  for (std::size_t i = 0; i < vertices.size(); ++i) number[at(vertices[i])] = static_cast<Vertex>(i);
  Graph result;
  Index ends = 0;
  for (const Vertex v : vertices) ends += graph.offsets[at(v) + 1] - graph.offsets[at(v)];
  result.neighbours.reserve(at(ends));
  result.offsets.reserve(vertices.size() + 1);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    // Rows that come next are fetched: they may lie anywhere.
    const auto later = [&](std::size_t steps) { return at(vertices[std::min(i + steps, vertices.size() - 1)]); };
    graph.fetch_row(static_cast<Index>(later(24)), static_cast<Index>(later(12)));
    const Vertex v = vertices[i];
    graph.for_each_neighbour(v, [&](Vertex u, Index weight) {
      if (number[at(u)] < 0) return;
      result.neighbours.push_back(number[at(u)]);
      if (!graph.edge_weights.empty()) result.edge_weights.push_back(weight);
    });
    result.offsets.push_back(static_cast<Index>(result.neighbours.size()));
    if (!graph.vertex_weights.empty()) result.vertex_weights.push_back(graph.weight(v));
  }
  return result;
}

Components components_of(const GraphView& graph, std::span<const int> labels) {
  Components result{Vector<Vertex>(graph.vertices(), -1), 0};
  std::vector<Vertex> stack;
  for (Index root = 0; root < graph.vertices(); ++root) {
    if (result.of[root] >= 0) continue;
    const auto component = static_cast<Vertex>(result.count++);
    result.of[root] = component;
    stack.push_back(static_cast<Vertex>(root));
    while (!stack.empty()) {
      const Vertex v = stack.back();
      stack.pop_back();
      graph.for_each_neighbour(v, [&](Vertex u, Index) {
        if (result.of[u] >= 0 || (!labels.empty() && labels[at(u)] != labels[at(v)])) return;
        result.of[u] = component;
        stack.push_back(u);
      });
    }
  }
  return result;
}

}  // namespace plait::graph
