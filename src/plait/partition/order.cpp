#include "plait/partition/order.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <numeric>
#include <utility>

#include "plait/base/random.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/partition/multilevel.hpp"

namespace plait::partition {

using graph::Graph;
using graph::GraphView;
using graph::Vertex;

namespace {

constexpr Index most_by_degree = 120;

/// The vertex of least degree among those that are left, again and again; its neighbours become neighbours.
std::vector<Vertex> by_least_degree(const GraphView& graph) {
  using Row = std::bitset<at(most_by_degree)>;
  const auto n = static_cast<Vertex>(graph.vertices());
  std::array<Row, at(most_by_degree)> neighbours;
  Row left;
  for (Vertex v = 0; v < n; ++v) {
    left.set(at(v));
    graph.for_each_neighbour(v, [&](Vertex u, Index) { neighbours[at(v)].set(at(u)); });
  }
  std::vector<Vertex> order;
  while (left.any()) {
    Vertex best = -1;
    for (Vertex v = 0; v < n; ++v) {
      if (left[at(v)] && (best < 0 || neighbours[at(v)].count() < neighbours[at(best)].count())) best = v;
    }
    order.push_back(best);
    left.reset(at(best));
    const Row clique = neighbours[at(best)];
    for (Vertex v = 0; v < n; ++v) {
      if (clique[at(v)]) (neighbours[at(v)] |= clique).reset(at(v)).reset(at(best));
    }
  }
  return order;
}

/// Finds the places of vertices, each rank those of its share of the pieces.
class Dissection {
 public:
  Dissection(int rank, Index vertices) : rank_(rank), order_(at(vertices)) {}

  /// Places the vertices of a graph, which have these names, from `first` on: the work of ranks [low, low + ranks).
  void place(const GraphView& graph, std::span<const Vertex> names, Index first, int low, int ranks,
             std::uint64_t seed) {
    if (rank_ < low || rank_ >= low + ranks) return;
    std::vector<Vertex> last;  // of the three: what comes after both halves
    std::array<std::vector<Vertex>, 2> halves;
    if (graph.vertices() <= most_by_degree) {
      last = by_least_degree(graph);
    } else {
      const auto side = separated(graph, graph.vertices() / 2 + graph.vertices() / 10, seed);
      for (std::size_t v = 0; v < side.size(); ++v) {
        (side[v] == 2 ? last : halves[at(side[v])]).push_back(static_cast<Vertex>(v));
      }
    }
    Index next = first;
    for (const int which : {0, 1}) {
      const auto& half = halves[at(which)];
      const int share = std::max(1, which == 0 ? ranks / 2 : ranks - ranks / 2);
      if (!half.empty())
        place_half(graph, half, names, next, which == 0 || ranks == 1 ? low : low + ranks / 2, share,
                   random_bits(seed, static_cast<std::uint64_t>(which)));
      next += static_cast<Index>(half.size());
    }
    if (rank_ != low) return;
    for (const Vertex v : last) order_[at(next++)] = names[at(v)];
  }

  [[nodiscard]] std::vector<Vertex> take() { return std::move(order_); }

 private:
  void place_half(const GraphView& graph, std::span<const Vertex> half, std::span<const Vertex> names, Index first,
                  int low, int ranks, std::uint64_t seed) {
    if (rank_ < low || rank_ >= low + ranks) return;
    std::vector<Vertex> own_names(half.begin(), half.end());
    for (Vertex& v : own_names) v = names[at(v)];
    std::vector<Vertex> number(at(graph.vertices()));
    const Graph own = subgraph(graph, half, number);
    number = {};
    place(own.view(), own_names, first, low, ranks, seed);
  }

  int rank_;
  std::vector<Vertex> order_;  // 0 where another rank knows
};

}  // namespace

std::vector<Vertex> nested_dissection(mpi::Context& context, const GraphView& graph, std::uint64_t seed) {
  auto order = mpi::agreed(context, [&](mpi::Alike& alike) {
    alike.add("vertices", graph.vertices());
    alike.add("seed", seed);
    std::vector<Vertex> names(at(graph.vertices()));
    std::iota(names.begin(), names.end(), 0);
    Dissection dissection(context.rank(), graph.vertices());
    dissection.place({graph.offsets, graph.neighbours, {}, {}, {}}, names, 0, 0, context.size(), seed);
    return dissection.take();
  });
  mpi::all_reduce(context.comm(), std::span<Vertex>(order), mpi::Operation::sum());
  return order;
}

Fill fill_of(const GraphView& graph, std::span<const Vertex> order) {
  const auto n = static_cast<Vertex>(order.size());
  std::vector<Vertex> place(order.size());
  for (Vertex i = 0; i < n; ++i) place[at(order[at(i)])] = i;
  const auto for_each_in_column = [&](Vertex j, auto&& f) {
    graph.for_each_neighbour(order[at(j)], [&](Vertex u, Index) { f(place[at(u)]); });
  };
  // The elimination tree, by Liu's algorithm: paths to the roots so far are halved where they are gone.
  std::vector<Vertex> parent(order.size(), -1);
  std::vector<Vertex> above(order.size(), -1);
  for (Vertex i = 0; i < n; ++i) {
    for_each_in_column(i, [&](Vertex j) {
      while (j >= 0 && j < i) {
        const Vertex next = std::exchange(above[at(j)], i);
        if (next < 0) parent[at(j)] = i;
        j = next;
      }
    });
  }
  // Postorder, by children in lists.
  std::vector<Vertex> child(order.size(), -1);
  std::vector<Vertex> sibling(order.size(), -1);
  std::vector<Vertex> post;
  std::vector<Vertex> stack;
  for (Vertex j = n; j-- > 0;) {
    if (parent[at(j)] >= 0) sibling[at(j)] = std::exchange(child[at(parent[at(j)])], j);
  }
  for (Vertex root = 0; root < n; ++root) {
    if (parent[at(root)] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const Vertex j = stack.back();
      if (const Vertex next = child[at(j)]; next >= 0) {
        child[at(j)] = sibling[at(next)];
        stack.push_back(next);
      } else {
        post.push_back(j);
        stack.pop_back();
      }
    }
  }
  // Counts of columns are sums over subtrees of what leaves of row subtrees add and what their meeting points take off.
  std::vector<Index> count(order.size());
  std::vector<Vertex> first(order.size(), -1);  // in postorder, of the descendants
  for (Vertex k = 0; k < n; ++k) {
    Vertex j = post[at(k)];
    count[at(j)] = first[at(j)] < 0 ? 1 : 0;
    for (; j >= 0 && first[at(j)] < 0; j = parent[at(j)]) first[at(j)] = k;
  }
  std::vector<Vertex> latest(order.size(), -1);  // first descendant of the last leaf of a row
  std::vector<Vertex> leaf(order.size(), -1);
  std::iota(above.begin(), above.end(), 0);
  for (const Vertex j : post) {
    if (parent[at(j)] >= 0) --count[at(parent[at(j)])];
    for_each_in_column(j, [&](Vertex i) {
      if (i <= j || first[at(j)] <= latest[at(i)]) return;
      latest[at(i)] = first[at(j)];
      ++count[at(j)];
      Vertex meeting = std::exchange(leaf[at(i)], j);
      if (meeting < 0) return;
      while (above[at(meeting)] != meeting) meeting = above[at(meeting)] = above[at(above[at(meeting)])];
      --count[at(meeting)];
    });
    if (parent[at(j)] >= 0) above[at(j)] = parent[at(j)];
  }
  Fill fill;
  std::vector<Index> height(order.size(), 1);
  for (Vertex j = 0; j < n; ++j) {
    fill.entries += count[at(j)];
    fill.operations += static_cast<double>(count[at(j)]) * static_cast<double>(count[at(j)]);
    fill.height = std::max(fill.height, height[at(j)]);
    if (parent[at(j)] < 0) continue;
    count[at(parent[at(j)])] += count[at(j)];
    height[at(parent[at(j)])] = std::max(height[at(parent[at(j)])], height[at(j)] + 1);
  }
  return fill;
}

}  // namespace plait::partition
