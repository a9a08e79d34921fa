#include "plait/partition/coarsen.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "plait/base/random.hpp"

namespace plait::partition {

using graph::GraphView;
using graph::Vertex;

namespace {

constexpr float hub_degree = 2;  // in mean degrees

/// Of one vertex where its row is, of a later one the row.
void fetch_row(const GraphView& graph, Vertex far, Vertex near) {
  __builtin_prefetch(&graph.offsets[at(far)]);
  __builtin_prefetch(graph.neighbours.data() + graph.offsets[at(near)]);
}

/// Calls f with all vertices in an order; where that is empty, in that of their numbers. Rows that are to come are
/// fetched before.
template <class F>
void for_each_of(const GraphView& graph, std::span<const Vertex> order, F&& f) {
  const auto n = static_cast<std::size_t>(graph.vertices());
  for (std::size_t i = 0; i < n; ++i) {
    if (order.empty()) {
      f(static_cast<Vertex>(i));
      continue;
    }
    fetch_row(graph, order[std::min(i + 16, n - 1)], order[std::min(i + 8, n - 1)]);
    f(order[i]);
  }
}

class Suitors {
 public:
  Suitors(const GraphView& graph, Index most_weight, std::span<const int> labels, std::span<const Vertex> order,
          Ties ties)
      : graph_(graph), most_weight_(most_weight), labels_(labels), ties_(ties), known_(at(graph.vertices())) {
    // Hubs count as heavy, too: a mate of one has little in common with the next one's.
    const auto n = static_cast<float>(graph.vertices());
    const float degree = hub_degree * static_cast<float>(graph.neighbours.size()) / n;
    const float mean = static_cast<float>(graph.total_weight()) / n;
    for (Index v = 0; v < graph.vertices(); ++v) {
      const float share = static_cast<float>(graph.offsets[at(v) + 1] - graph.offsets[at(v)]) / degree;
      const auto weight = static_cast<float>(graph.weight(v));
      known_[at(v)].lightness = 1 / std::max(1.F, share > 1 ? std::max(weight, mean) * share : weight);
    }
    Vertex place = 0;
    for_each_of(graph, order, [&](Vertex v) { known_[at(v)].place = place++; });
    for_each_of(graph, order, [&](Vertex v) { propose(v); });
  }

  /// -1 if there is none.
  [[nodiscard]] Vertex of(Vertex v) const { return known_[at(v)].suitor; }

 private:
  /// Of a vertex, side by side: neighbours may be far apart.
  struct Known {
    float lightness;
    float rating = 0;    // of the suitor
    Vertex suitor = -1;  // the best one so far
    Vertex place;        // in the order
  };

  /// Whether a vertex at `place` prefers an equal one at `a` to one at `b`.
  [[nodiscard]] bool is_before(Vertex place, Vertex a, Vertex b) const {
    if (ties_ == Ties::lowest) return a < b;
    const auto key = [&](Vertex other) {
      if (ties_ == Ties::nearest) return static_cast<std::uint64_t>(std::abs(other - place));
      const auto [low, high] = std::minmax(other, place);
      return random_bits(1, (static_cast<std::uint64_t>(low) << 32U) | static_cast<std::uint64_t>(high));
    };
    return std::pair(key(a), a) < std::pair(key(b), b);
  }

  void propose(Vertex v) {
    while (v >= 0) {
      Vertex best = -1;
      float most = 0;
      Vertex place = 0;  // of the best
      const Index weight = graph_.weight(v);
      const Known own = known_[at(v)];
      graph_.for_each_neighbour(v, [&](Vertex u, Index edge) {
        if (weight > most_weight_ - graph_.weight(u) || (!labels_.empty() && labels_[at(u)] != labels_[at(v)])) return;
        const Known& its = known_[at(u)];
        const auto e = static_cast<float>(edge);
        // Weights are 2^62 at most, so that no product leaves the range of a float.
        const float rating = e * e * (own.lightness * its.lightness);
        if (rating < most || (rating == most && !is_before(own.place, its.place, place))) return;
        if (rating < its.rating ||
            (rating == its.rating && !is_before(its.place, own.place, known_[at(its.suitor)].place))) {
          return;
        }
        most = rating;
        best = u;
        place = its.place;
      });
      if (best < 0) return;
      known_[at(best)].rating = most;
      v = std::exchange(known_[at(best)].suitor, v);  // who was there before proposes again
    }
  }

  const GraphView& graph_;
  Index most_weight_;
  std::span<const int> labels_;
  Ties ties_;
  std::vector<Known> known_;
};

}  // namespace

Vector<Vertex> mates_of(const GraphView& graph, Index most_weight, std::span<const int> labels,
                        std::span<const Vertex> order, Ties ties) {
  const Index n = graph.vertices();
  Vector<Vertex> mates(n);
  Index alone = 0;
  {
    const Suitors suitors(graph, most_weight, labels, order, ties);
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
  for_each_of(graph, order, [&](Vertex v) {
    if (mates[v] != v) return;
    Index place = n;
    Index heaviest = 0;
    graph.for_each_neighbour(v, [&](Vertex u, Index weight) {
      if (weight > heaviest || (weight == heaviest && u < place)) {
        heaviest = weight;
        place = u;
      }
    });
    const Vertex other = waiting[place];
    if (other >= 0 && fits(v, other)) {
      mates[v] = other;
      mates[other] = v;
      waiting[place] = -1;
    } else {
      waiting[place] = v;
    }
  });
  return mates;
}

Vertex merge(std::span<Vertex> mates, std::span<const Vertex> order) {
  Vertex count = 0;
  for (std::size_t i = 0; i < mates.size(); ++i) {
    const std::size_t v = order.empty() ? i : at(order[i]);
    const Vertex mate = mates[v];
    if (mate >= 0) mates[v] = mates[at(mate)] = ~count++;  // below 0: the number is there
  }
  for (Vertex& number : mates) number = ~number;
  return count;
}

Coarse contracted(const GraphView& graph, std::span<const Vertex> vertex_of, Vertex vertices) {
  std::vector<std::array<Vertex, 2>> members(at(vertices), {-1, -1});
  for (Vertex v = 0; at(v) < vertex_of.size(); ++v) {
    auto& own = members[at(vertex_of[at(v)])];
    own[own[0] < 0 ? 0 : 1] = v;
  }
  Coarse result;
  result.offsets.reserve(at(vertices) + 1);
  result.vertex_weights.reserve(at(vertices));
  // More than there will be: memory that is never written is never taken.
  result.neighbours.reserve(graph.neighbours.size());
  result.edge_weights.reserve(graph.neighbours.size());
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
  for (; own < vertices; ++own) {
    row.clear();
    weights.clear();
    Index weight = 0;
    for (const std::size_t which : {0UL, 1UL}) {
      fetch_row(graph, std::max(Vertex{0}, members[at(std::min(own + 12, vertices - 1))][which]),
                std::max(Vertex{0}, members[at(std::min(own + 6, vertices - 1))][which]));
    }
    for (const Vertex v : members[at(own)]) {
      if (v < 0) break;
      graph.for_each_neighbour(v, add);
      weight += graph.weight(v);
    }
    result.neighbours.insert(result.neighbours.end(), row.begin(), row.end());
    for (const Index one : weights) result.edge_weights.push_back(one);
    result.vertex_weights.push_back(weight);
    result.offsets.push_back(result.neighbours.count());
  }
  return result;
}

}  // namespace plait::partition
