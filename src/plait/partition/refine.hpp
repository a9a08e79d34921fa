#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/graph/graph.hpp"

namespace plait::partition {

/// What each part may weigh, and how many vertices it has at least.
struct Bounds {
  Vector<Index> most_weight;
  Vector<Index> least_vertices;

  [[nodiscard]] int parts() const noexcept { return static_cast<int>(most_weight.count()); }
};

/// Where vertices come from, and what it costs that one is elsewhere, in units of an edge's weight / `edge_factor`.
/// Empty: none comes from anywhere.
struct Homes {
  std::span<const int> part;
  std::span<const Index> pull;
  Index edge_factor = 1;
};

/// How hard a refinement tries. Searches from all borders at once keep long borders straight, those from one vertex
/// find what is left between some parts.
struct Effort {
  int together = 8;            // rounds of one search from all vertices at borders
  int alone = 1;               // rounds of searches from one vertex each
  std::size_t fruitless = 10;  // moves after which one of the latter ends
};

/// Parts of a graph that are made better, vertex by vertex. Refers to what it is given.
///
///     cost = edge_factor · Σ weight of edges between parts + Σ pull of vertices that are not at home
class Refinement {
 public:
  /// \pre  part[v] is in [0, bounds.parts())
  Refinement(const graph::GraphView& graph, const Bounds& bounds, std::span<int> part, const Homes& homes = {});

  /// Moves vertices, those first that cost least for their weight, until no part weighs more than it may and none has
  /// too few vertices; or until no single move helps.
  bool balance(std::uint64_t seed);

  /// Searches from vertices at borders for moves, also such that make it worse at first, and keeps the best of them:
  /// never worse, and within bounds if it was. Returns by how much the cost fell.
  ///
  /// Source: Fiduccia, Mattheyses, "A linear-time heuristic for improving network partitions", DAC 1982; searches that
  /// begin at one vertex: Sanders, Schulz, "Engineering multilevel graph partitioning algorithms", ESA 2011. Gains of
  /// any size lie in a heap in place of buckets.
  Index refine(const Effort& effort, std::uint64_t seed);

  /// By how much parts weigh too much, or have too few vertices, together.
  [[nodiscard]] Index excess() const;

  [[nodiscard]] std::span<const Index> weights() const noexcept { return weight_; }

  struct Move {
    Index gain = 0;
    int to = -1;  // none is allowed
  };
  /// The move of v that gains most, among those to parts that it has neighbours in or comes from and that have room.
  [[nodiscard]] Move best_move(graph::Vertex v);

 private:
  /// What ties a vertex to a part: the weight of its edges to vertices there, and its pull if it is at home there.
  struct Tie {
    int part;
    Index strength;
  };
  /// Of v; computed when they are asked for first, and kept up to date from then on.
  [[nodiscard]] std::span<const Tie> ties_of(graph::Vertex v);
  /// The largest gain of v in the heap, or no_bid.
  /// \pre  its ties are known
  [[nodiscard]] Index& bid(graph::Vertex v) { return ties_[at(first_tie_[at(v)] - 1)].strength; }
  void shift_tie(graph::Vertex v, int from, int to, Index strength);
  struct Entry {
    Index gain;
    std::uint32_t order;
    graph::Vertex v;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.gain != b.gain ? a.gain < b.gain : a.order < b.order;
    }
  };

  void move(graph::Vertex v, int to);
  void push(graph::Vertex v);
  [[nodiscard]] bool is_at_border(graph::Vertex v) const;
  /// Whether a search from v alone may gain: its first move loses little.
  [[nodiscard]] bool is_promising(graph::Vertex v);
  [[nodiscard]] bool has_room(int part, Index weight) const {
    return weight_[at(part)] + weight <= bounds_.most_weight[part];
  }
  Index search(std::span<const graph::Vertex> seeds, std::size_t fruitless);
  int lightest_with_room(Index weight, int but) const;

  const graph::GraphView graph_;
  const Bounds& bounds_;
  const std::span<int> part_;
  const Homes homes_;
  std::vector<Index> weight_;     // of each part
  std::vector<Index> vertices_;   // in each part
  std::vector<Index> first_tie_;  // of each vertex in ties_; before it is a Tie of their number and the bid. 0: unknown
  std::vector<Tie> ties_;
  std::vector<Index> strength_;          // to each part; 0 but in ties_of
  std::vector<std::uint16_t> moved_in_;  // the round
  std::vector<std::uint16_t> near_in_;   // the round
  std::vector<Entry> heap_;
  std::vector<graph::Vertex> near_;  // those that may be at a border after a round
  struct Done {
    graph::Vertex v;
    int from;
  };
  std::vector<Done> done_;
  std::uint16_t round_ = 0;
  std::uint32_t order_ = 0;
};

/// Σ weight of edges between parts.
[[nodiscard]] Index cut_of(const graph::GraphView& graph, std::span<const int> part);

}  // namespace plait::partition
