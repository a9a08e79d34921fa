#include "plait/partition/coarsen.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace plait::partition {

using graph::GraphView;
using graph::Vertex;

namespace {

constexpr float hub_degree = 2;  // in mean degrees

class Suitors {
 public:
  Suitors(const GraphView& graph, Index most_weight, std::span<const int> labels)
      : graph_(graph),
        most_weight_(most_weight),
        labels_(labels),
        suitor_(at(graph.vertices()), -1),
        rating_(at(graph.vertices())),
        lightness_(at(graph.vertices())) {
    // Hubs count as heavy, too: a mate of one has little in common with the next one's.
    const auto n = static_cast<float>(graph.vertices());
    const float degree = hub_degree * static_cast<float>(graph.neighbours.size()) / n;
    const float mean = static_cast<float>(graph.total_weight()) / n;
    for (Index v = 0; v < graph.vertices(); ++v) {
      const float share = static_cast<float>(graph.offsets[at(v) + 1] - graph.offsets[at(v)]) / degree;
      const auto weight = static_cast<float>(graph.weight(v));
      lightness_[at(v)] = 1 / std::max(1.F, share > 1 ? std::max(weight, mean) * share : weight);
    }
    for (Index v = 0; v < graph.vertices(); ++v) propose(static_cast<Vertex>(v));
  }

  [[nodiscard]] Vertex of(Vertex v) const { return suitor_[at(v)]; }

 private:
  void propose(Vertex v) {
    while (v >= 0) {
      Vertex best = -1;
      float most = 0;
      const Index weight = graph_.weight(v);
      const float lightness = lightness_[at(v)];
      graph_.for_each_neighbour(v, [&](Vertex u, Index edge) {
        if (weight > most_weight_ - graph_.weight(u) || (!labels_.empty() && labels_[at(u)] != labels_[at(v)])) return;
        const auto e = static_cast<float>(edge);
        // Weights are 2^62 at most, so that no product leaves the range of a float.
        const float rating = e * e * (lightness * lightness_[at(u)]);
        // Among equals the lower number: numbers that follow the shape of a mesh make the coarse one a mesh as well.
        if (rating < most || (rating == most && u > best)) return;
        if (rating < rating_[at(u)] || (rating == rating_[at(u)] && v > suitor_[at(u)])) return;
        most = rating;
        best = u;
      });
      if (best < 0) return;
      rating_[at(best)] = most;
      v = std::exchange(suitor_[at(best)], v);  // who was there before proposes again
    }
  }

  const GraphView& graph_;
  Index most_weight_;
  std::span<const int> labels_;
  std::vector<Vertex> suitor_;
  std::vector<float> rating_;
  std::vector<float> lightness_;
};

}  // namespace

Vector<Vertex> mates_of(const GraphView& graph, Index most_weight, std::span<const int> labels) {
  const Index n = graph.vertices();
  Vector<Vertex> mates(n);
  Index alone = 0;
  {
    const Suitors suitors(graph, most_weight, labels);
    for (Vertex v = 0; v < n; ++v) {
      const Vertex u = suitors.of(v);
      const bool are_mates = u >= 0 && suitors.of(u) == v;
      mates[v] = are_mates ? u : v;
      alone += are_mates ? 0 : 1;
    }
  }
  if (alone * 4 <= n) return mates;
  // The last one that is alone beside each vertex waits there for another one.
  Vector<Vertex> waiting(n + 1, -1);
  const auto fits = [&](Vertex v, Vertex u) {
    return graph.weight(v) <= most_weight - graph.weight(u) && (labels.empty() || labels[at(v)] == labels[at(u)]);
  };
  for (Vertex v = 0; v < n; ++v) {
    if (mates[v] != v) continue;
    const bool has_neighbours = graph.offsets[at(v)] < graph.offsets[at(v) + 1];
    Index place = n;
    Index heaviest = 0;
    if (has_neighbours) {
      graph.for_each_neighbour(v, [&](Vertex u, Index weight) {
        if (weight > heaviest || (weight == heaviest && u < place)) {
          heaviest = weight;
          place = u;
        }
      });
    }
    const Vertex other = waiting[place];
    if (other >= 0 && fits(v, other)) {
      mates[v] = other;
      mates[other] = v;
      waiting[place] = -1;
    } else {
      waiting[place] = v;
    }
  }
  return mates;
}

graph::GraphView Coarse::view() const noexcept {
  graph::GraphView result{offsets, neighbours, {}, vertex_weights, {}};
  if (wide_edge_weights.empty()) {
    result.edge_weights = std::span<const std::uint16_t>(narrow_edge_weights);
  } else {
    result.edge_weights = std::span<const Index>(wide_edge_weights);
  }
  return result;
}

Vertex merge(std::span<Vertex> mates) {
  Vertex count = 0;
  for (std::size_t v = 0; v < mates.size(); ++v) {
    const auto mate = at(mates[v]);
    mates[v] = mate < v ? mates[mate] : count++;
  }
  return count;
}

Coarse contracted(const GraphView& graph, std::span<const Vertex> vertex_of, Vertex vertices) {
  // The first of two mates is the one where a number appears first.
  std::vector<Vertex> second(at(vertices), -1);
  for (Vertex v = 0, next = 0; at(v) < vertex_of.size(); ++v) {
    if (vertex_of[at(v)] == next) {
      ++next;
    } else {
      second[at(vertex_of[at(v)])] = v;
    }
  }
  Coarse result;
  result.offsets.reserve(at(vertices) + 1);
  result.vertex_weights.reserve(at(vertices));
  // More than there will be: memory that is never written is never taken.
  result.neighbours.reserve(graph.neighbours.size());
  result.narrow_edge_weights.reserve(graph.neighbours.size());
  bool is_narrow = true;
  std::vector<Vertex> row;
  std::vector<Index> weights;
  std::vector<std::uint32_t> place(at(vertices));  // in the row; of a vertex that is not there yet, anything
  Vertex own = 0;
  const auto add = [&](Vertex u, Index weight) {
    const Vertex to = vertex_of[at(u)];
    if (to == own) return;
    if (const std::size_t known = place[at(to)]; known < row.size() && row[known] == to) {
      weights[known] += weight;
      return;
    }
    place[at(to)] = static_cast<std::uint32_t>(row.size());
    row.push_back(to);
    weights.push_back(weight);
  };
  constexpr Index most_narrow = std::numeric_limits<std::uint16_t>::max();
  for (Vertex v = 0; own < vertices; ++v) {
    if (vertex_of[at(v)] != own) continue;
    row.clear();
    weights.clear();
    graph.for_each_neighbour(v, add);
    Index weight = graph.weight(v);
    if (const Vertex mate = second[at(own)]; mate >= 0) {
      graph.for_each_neighbour(mate, add);
      weight += graph.weight(mate);
    }
    if (is_narrow && !weights.empty() && std::ranges::max(weights) > most_narrow) {
      is_narrow = false;
      result.wide_edge_weights.reserve(graph.neighbours.size());
      result.wide_edge_weights.assign(result.narrow_edge_weights.begin(), result.narrow_edge_weights.end());
      result.narrow_edge_weights = {};
    }
    result.neighbours.insert(result.neighbours.end(), row.begin(), row.end());
    if (is_narrow) {
      for (const Index one : weights) result.narrow_edge_weights.push_back(static_cast<std::uint16_t>(one));
    } else {
      result.wide_edge_weights.insert(result.wide_edge_weights.end(), weights.begin(), weights.end());
    }
    result.vertex_weights.push_back(weight);
    result.offsets.push_back(result.neighbours.count());
    ++own;
  }
  return result;
}

}  // namespace plait::partition
