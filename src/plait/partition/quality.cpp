#include "plait/partition/quality.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace plait::partition {

using graph::Graph;
using graph::GraphView;
using graph::Vertex;

Index Quality::most_components() const { return components.empty() ? 0 : std::ranges::max(components); }

Quality quality_of(const GraphView& graph, std::span<const int> part, int parts) {
  Quality quality;
  quality.parts = parts;
  quality.weights = Vector<Index>(Index{parts}, 0);
  quality.vertices = Vector<Index>(Index{parts}, 0);
  quality.components = Vector<Index>(Index{parts}, 0);
  std::vector<Index> seen_by(at(parts), -1);
  for (Index v = 0; v < graph.vertices(); ++v) {
    const int own = part[at(v)];
    quality.weights[own] += graph.weight(v);
    ++quality.vertices[own];
    Index others = 0;
    graph.for_each_neighbour(v, [&](Vertex u, Index weight) {
      const int other = part[at(u)];
      if (other == own) return;
      others += std::exchange(seen_by[at(other)], v) == v ? 0 : 1;
      if (u > v) return;
      quality.cut += weight;
      ++quality.cut_edges;
    });
    quality.volume += graph.size(v) * others;
    quality.boundary += others > 0 ? 1 : 0;
  }
  if (const Index total = graph.total_weight(); total > 0) {
    const auto heaviest = static_cast<double>(std::ranges::max(quality.weights));
    quality.imbalance = heaviest * parts / static_cast<double>(total) - 1;
  }
  const auto components = graph::components_of(graph, part);
  std::vector<bool> is_counted(at(components.count));
  for (std::size_t v = 0; v < part.size(); ++v) {
    const auto component = at(components.of[static_cast<Index>(v)]);
    if (is_counted[component]) continue;
    is_counted[component] = true;
    ++quality.components[part[v]];
  }
  return quality;
}

Graph quotient_of(const GraphView& graph, std::span<const int> part, int parts) {
  std::map<std::pair<int, int>, Index> weights;
  Graph quotient;
  quotient.vertex_weights = Vector<Index>(Index{parts}, 0);
  for (Index v = 0; v < graph.vertices(); ++v) {
    const int own = part[at(v)];
    quotient.vertex_weights[own] += graph.weight(v);
    graph.for_each_neighbour(v, [&](Vertex u, Index weight) {
      if (part[at(u)] != own) weights[{own, part[at(u)]}] += weight;
    });
  }
  auto next = weights.begin();
  for (int p = 0; p < parts; ++p) {
    for (; next != weights.end() && next->first.first == p; ++next) {
      quotient.neighbours.push_back(next->first.second);
      quotient.edge_weights.push_back(next->second);
    }
    quotient.offsets.push_back(quotient.neighbours.count());
  }
  return quotient;
}

}  // namespace plait::partition
