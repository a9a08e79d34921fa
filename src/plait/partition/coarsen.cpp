#include "plait/partition/coarsen.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>
#include <vector>

#include "plait/base/parallel.hpp"
#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"

namespace plait::partition {

using graph::GraphView;
using graph::Vertex;

namespace {

constexpr float hub_degree = 2;  // in mean degrees

/// Calls f with the vertices [begin, end) in an order; where that is empty, in that of their numbers. Rows that are to
/// come are fetched before.
template <class F>
void for_each_of(const GraphView& graph, std::span<const Vertex> order, Index begin, Index end, F&& f) {
  for (Index i = begin; i < end; ++i) {
    if (order.empty()) {
      f(static_cast<Vertex>(i));
      continue;
    }
    graph.fetch_row(order[at(std::min(i + 16, end - 1))], order[at(std::min(i + 8, end - 1))]);
    f(order[at(i)]);
  }
}

class Suitors {
 public:
  Suitors(const GraphView& graph, Index most_weight, std::span<const int> labels, std::span<const Vertex> order,
          Ties ties)
      : graph_(graph), most_weight_(most_weight), labels_(labels), ties_(ties), known_(at(graph.vertices())) {
    // Hubs count as heavy, too: a mate of one has little in common with the next one's.
    const Index n = graph.vertices();
    const float degree = hub_degree * static_cast<float>(graph.neighbours.size()) / static_cast<float>(n);
    const float mean = static_cast<float>(graph.total_weight()) / static_cast<float>(n);
    const int threads = threads_of(n);
    in_shares(n, threads, [&](int, Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Index v = order.empty() ? i : order[at(i)];
        const float share = static_cast<float>(graph.offsets[at(v) + 1] - graph.offsets[at(v)]) / degree;
        const auto weight = static_cast<float>(graph.weight(v));
        known_[at(v)].lightness = 1 / std::max(1.F, share > 1 ? std::max(weight, mean) * share : weight);
        known_[at(v)].place = static_cast<Vertex>(i);
      }
    });
    // Each thread has a share of the order. A vertex whose neighbours are all in there proposes to one in there, and
    // whom it displaces is such a vertex as well: no rating or suitor elsewhere is read or written. Those with
    // neighbours elsewhere propose afterwards, as the order does not matter.
    std::vector<std::vector<Vertex>> later(at(threads));
    in_shares(n, threads, [&](int thread, Index begin, Index end) {
      for_each_of(graph, order, begin, end, [&](Vertex v) {
        if (threads > 1 && reaches_beyond(begin, end, v)) {
          later[at(thread)].push_back(v);
        } else {
          propose(v);
        }
      });
    });
    for (const auto& some : later) std::ranges::for_each(some, [&](Vertex v) { propose(v); });
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

  [[nodiscard]] bool reaches_beyond(Index begin, Index end, Vertex v) const {
    const auto all = graph_.neighbours.begin();
    return std::any_of(all + graph_.offsets[at(v)], all + graph_.offsets[at(v) + 1],
                       [&](Vertex u) { return known_[at(u)].place < begin || known_[at(u)].place >= end; });
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
  std::atomic<Index> alone = 0;
  {
    const Suitors suitors(graph, most_weight, labels, order, ties);
    in_shares(n, threads_of(n), [&](int, Index begin, Index end) {
      Index own_alone = 0;
      for (auto v = static_cast<Vertex>(begin); v < end; ++v) {
        const Vertex u = suitors.of(v);
        const bool are_mates = u >= 0 && suitors.of(u) == v;
        mates[v] = are_mates ? u : v;
        own_alone += are_mates ? 0 : 1;
      }
      alone += own_alone;
    });
  }
  if (alone * 4 <= n) return mates;
  // The last one that is alone beside each vertex waits there for another one.
  Vector<Vertex> waiting(n + 1, -1);
  const auto fits = [&](Vertex v, Vertex u) {
    return graph.weight(v) <= most_weight - graph.weight(u) && (labels.empty() || labels[at(v)] == labels[at(u)]);
  };
  for_each_of(graph, order, 0, n, [&](Vertex v) {
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

}  // namespace plait::partition
