#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"

/// Graphs without direction: each edge is stored at both of its ends.
namespace plait::graph {

/// Vertices are numbered in 32 bits, as half of what an edge takes is its number; edges are counted in 64.
using Vertex = std::int32_t;
inline constexpr Index most_vertices = (Index{1} << 31) - 1;
/// What all weights of one kind may add up to, so that no sum overflows.
inline constexpr Index most_weight = Index{1} << 62;

/// Weights in 64 bits or, where many are small, in 16.
class Weights {
 public:
  Weights() = default;
  Weights(std::span<const Index> wide) : wide_(wide) {}  // NOLINT(google-explicit-constructor): the same weights
  Weights(std::span<const std::uint16_t> narrow) : narrow_(narrow) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::size_t size() const noexcept { return wide_.size() + narrow_.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] bool are_narrow() const noexcept { return !narrow_.empty(); }
  [[nodiscard]] Index operator[](std::size_t e) const { return narrow_.empty() ? wide_[e] : narrow_[e]; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return narrow_.empty() ? std::as_bytes(wide_) : std::as_bytes(narrow_);
  }
  /// Calls f with one of the two spans, the other one of which is empty.
  template <class F>
  auto with(F&& f) const {
    return narrow_.empty() ? f(wide_) : f(narrow_);
  }

 private:
  std::span<const Index> wide_;
  std::span<const std::uint16_t> narrow_;
};

/// Weights in memory of their own, in 16 bits as long as all fit.
class PackedWeights {
 public:
  operator Weights() const noexcept {  // NOLINT(google-explicit-constructor): the same weights
    if (!wide_.empty()) return std::span<const Index>(wide_);
    return std::span<const std::uint16_t>(narrow_);
  }
  /// Memory for so many: what is never written is never taken.
  void reserve(std::size_t count) { narrow_.reserve(count); }
  void append(std::span<const Index> weights);

 private:
  std::vector<std::uint16_t> narrow_;
  std::vector<Index> wide_;
};

/// A graph in memory that somebody else owns.
struct GraphView {
  std::span<const Index> offsets;       // vertex v has neighbours[offsets[v]] up to neighbours[offsets[v + 1] - 1]
  std::span<const Vertex> neighbours;   // of all vertices
  Weights edge_weights;                 // > 0, one a neighbour; empty: all 1
  Weights vertex_weights;               // >= 0; empty: all 1
  std::span<const Index> vertex_sizes;  // what the data of a vertex takes; >= 0; empty: all 1

  [[nodiscard]] Index vertices() const noexcept { return static_cast<Index>(offsets.size()) - 1; }
  /// Each once.
  [[nodiscard]] Index edges() const noexcept { return static_cast<Index>(neighbours.size()) / 2; }
  [[nodiscard]] Index weight(Index v) const { return vertex_weights.empty() ? 1 : vertex_weights[at(v)]; }
  [[nodiscard]] Index size(Index v) const { return vertex_sizes.empty() ? 1 : vertex_sizes[at(v)]; }
  [[nodiscard]] Index edge_weight(Index e) const { return edge_weights.empty() ? 1 : edge_weights[at(e)]; }
  [[nodiscard]] Index total_weight() const;
  [[nodiscard]] Index total_size() const;

  /// Fetches into the cache where the row of one vertex is and, of one that comes before, the row.
  void fetch_row(Index far, Index near) const {
    __builtin_prefetch(&offsets[at(far)]);
    __builtin_prefetch(neighbours.data() + offsets[at(near)]);
  }

  /// Calls f(neighbour, weight of the edge) for each neighbour of v.
  template <class F>
  void for_each_neighbour(Index v, F&& f) const {
    const Index begin = offsets[at(v)];
    const Index end = offsets[at(v) + 1];
    if (edge_weights.empty()) {
      for (Index e = begin; e < end; ++e) f(neighbours[at(e)], Index{1});
    } else {
      edge_weights.with([&](auto weights) {
        for (Index e = begin; e < end; ++e) f(neighbours[at(e)], Index{weights[at(e)]});
      });
    }
  }
};

/// One that owns its memory.
struct Graph {
  Vector<Index> offsets{0};
  Vector<Vertex> neighbours;
  Vector<Index> edge_weights;
  Vector<Index> vertex_weights;
  Vector<Index> vertex_sizes;

  [[nodiscard]] GraphView view() const noexcept {
    return {offsets, neighbours, std::span<const Index>(edge_weights), std::span<const Index>(vertex_weights),
            vertex_sizes};
  }
  friend bool operator==(const Graph&, const Graph&) = default;
};

/// What is wrong with a graph, beside numbers out of range.
struct Flaw {
  enum class Kind : unsigned char {
    self_loop,       // v is its own neighbour
    twice,           // v has the neighbour u more than once
    one_way,         // v has the neighbour u, which has not v
    weights_differ,  // the edge of v and u weighs something else at each end
  };
  Kind kind = Kind::self_loop;
  Index v = 0;
  Index u = 0;
  friend bool operator==(const Flaw&, const Flaw&) = default;
};

/// A self loop or an edge twice, of the lowest vertex that has one; else of the lowest one of the other two kinds.
/// Takes O(edges).
[[nodiscard]] std::optional<Flaw> flaw_of(const GraphView& graph);

/// With an edge wherever one of the two ends has it, as heavy as at the end where it is heavier; without self loops.
/// Neighbours increase.
[[nodiscard]] Graph symmetrised(Graph graph);

/// \throws ArgumentError  a number of vertices, neighbours or weights does not fit, a neighbour is out of range, a
///                        weight is negative or an edge's is 0, weights add up to more than `most_weight`, or there is
///                        a flaw; vertices are counted from 0
void expect_graph(const GraphView& graph);

/// The graph in which these pairs are edges, each given once or at both ends, in any order; pairs of equals are left
/// out. Neighbours increase.
/// \pre  0 <= every number < vertices <= most_vertices
[[nodiscard]] Graph graph_of_pairs(Index vertices, std::span<const std::pair<Vertex, Vertex>> pairs);

/// The graph of some vertices, in their order, without sizes. `number` has room for all vertices of the graph.
[[nodiscard]] Graph subgraph(const GraphView& graph, std::span<const Vertex> vertices, std::span<Vertex> number);

/// The component of each vertex among those with the same label (all, where there are none), counted from 0 in the
/// order of their lowest vertices; and how many there are.
struct Components {
  Vector<Vertex> of;
  Index count = 0;
};
[[nodiscard]] Components components_of(const GraphView& graph, std::span<const int> labels = {});

}  // namespace plait::graph
