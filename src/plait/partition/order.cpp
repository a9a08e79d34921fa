#include "plait/partition/order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "plait/base/random.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/node/threads.hpp"
#include "plait/partition/bisection.hpp"
#include "plait/partition/least_degree.hpp"
#include "plait/partition/multilevel.hpp"

namespace plait::partition {

using graph::Graph;
using graph::GraphView;
using graph::Vertex;

namespace {

/// Pieces of at most so many vertices are not cut.
constexpr Index least_to_cut = 400;
/// Of the largest pieces of at most so many it is looked at which fills in less, cuts or least degree, each by one
/// rank.
constexpr Index most_to_compare = 1 << 14;
/// Pieces of which a separator takes more than this share are not cut, either, as cuts would fill in more: they have
/// hubs. In meshes it takes far less.
constexpr Index share_to_cut = 8;

/// Finds the places of vertices, each rank those of its share of the pieces.
class Dissection {
 public:
  Dissection(int rank, const GraphView& whole)
      : rank_(rank), whole_(whole), order_(at(whole.vertices())), number_(at(whole.vertices()), -1) {}

  /// Places the vertices of a graph, which have these names, from `first` on: the work of ranks [low, low + ranks).
  void place(const GraphView& graph, std::span<const Vertex> names, Index first, int low, int ranks,
             std::uint64_t seed) {
    if (graph.vertices() > most_to_compare) {
      place_by_cuts(graph, names, first, low, ranks, seed);
      return;
    }
    if (rank_ != low || !place_by_cuts(graph, names, first, low, 1, seed)) return;
    // What eliminating the piece leaves behind is the same in each order.
    const auto own = std::span(order_).subspan(at(first), names.size());
    const Graph around = with_neighbours(names);
    const auto by_degree = by_least_degree(around.view(), static_cast<Vertex>(names.size()));
    std::vector<Vertex> by_cuts;
    for (std::size_t v = 0; v < names.size(); ++v) number_[at(names[v])] = static_cast<Vertex>(v);
    for (const Vertex name : own) by_cuts.push_back(std::exchange(number_[at(name)], -1));
    const auto entries = [&](std::vector<Vertex> order) {
      for (auto v = static_cast<Vertex>(names.size()); v < around.view().vertices(); ++v) order.push_back(v);
      return fill_of(around.view(), order).entries;
    };
    if (entries(by_degree) <= entries(by_cuts)) put(by_degree, names, first);
  }

  [[nodiscard]] std::vector<Vertex> take() { return std::move(order_); }

 private:
  /// Returns whether the graph was cut: if not, it was placed by least degree.
  bool place_by_cuts(const GraphView& graph, std::span<const Vertex> names, Index first, int low, int ranks,
                     std::uint64_t seed) {
    if (rank_ < low || rank_ >= low + ranks) return false;
    std::vector<int> side;
    if (graph.vertices() > least_to_cut) {
      side = separated(graph, graph.vertices() / 2 + graph.vertices() / 10, seed);
    }
    std::array<std::vector<Vertex>, 3> numbers;
    for (std::size_t v = 0; v < side.size(); ++v) numbers[at(side[v])].push_back(static_cast<Vertex>(v));
    if (side.empty() || std::ssize(numbers[2]) > graph.vertices() / share_to_cut) {
      if (rank_ != low) return false;
      put(by_least_degree(with_neighbours(names).view(), static_cast<Vertex>(names.size())), names, first);
      return false;
    }
    std::vector<Vertex> number(side.size());
    for (const int which : {0, 1}) {
      const auto& own = numbers[at(which)];
      std::vector<Vertex> own_names;
      for (const Vertex v : own) own_names.push_back(names[at(v)]);
      const int own_low = which == 0 || ranks == 1 ? low : low + ranks / 2;
      const int share = std::max(1, which == 0 ? ranks / 2 : ranks - ranks / 2);
      const Graph half = subgraph(graph, own, number);
      const std::uint64_t own_seed = random_bits(seed, static_cast<std::uint64_t>(which));
      if (graph.vertices() > most_to_compare) {
        place(half.view(), own_names, first, own_low, share, own_seed);
      } else {
        place_by_cuts(half.view(), own_names, first, own_low, share, own_seed);
      }
      first += std::ssize(own);
    }
    if (rank_ == low) put(numbers[2], names, first);
    return true;
  }

  void put(std::span<const Vertex> numbers, std::span<const Vertex> names, Index first) {
    for (const Vertex v : numbers) order_[at(first++)] = names[at(v)];
  }

  /// The graph of these vertices and, after them, their neighbours, without edges between the latter.
  [[nodiscard]] Graph with_neighbours(std::span<const Vertex> names) {
    std::vector<Vertex> all(names.begin(), names.end());
    for (std::size_t v = 0; v < names.size(); ++v) number_[at(names[v])] = static_cast<Vertex>(v);
    std::vector<std::pair<Vertex, Vertex>> pairs;
    for (Vertex v = 0; at(v) < names.size(); ++v) {
      whole_.for_each_neighbour(names[at(v)], [&](Vertex u, Index) {
        Vertex& number = number_[at(u)];
        if (number < 0) {
          number = static_cast<Vertex>(all.size());
          all.push_back(u);
        }
        if (v < number) pairs.emplace_back(v, number);
      });
    }
    for (const Vertex v : all) number_[at(v)] = -1;
    return graph::graph_of_pairs(static_cast<Index>(all.size()), pairs);
  }

  int rank_;
  GraphView whole_;
  std::vector<Vertex> order_;   // 0 where another rank knows
  std::vector<Vertex> number_;  // in a piece; -1 between its uses
};

}  // namespace

std::vector<Vertex> nested_dissection(mpi::Context& context, const GraphView& graph, std::uint64_t seed) {
  const mpi::NodeThreads threads(context.topology());
  auto order = mpi::agreed(context, [&](mpi::Alike& alike) {
    alike.add("vertices", graph.vertices());
    alike.add("seed", seed);
    std::vector<Vertex> names(at(graph.vertices()));
    std::iota(names.begin(), names.end(), 0);
    const GraphView plain{graph.offsets, graph.neighbours, {}, {}, {}};
    Dissection dissection(context.rank(), plain);
    dissection.place(plain, names, 0, 0, context.size(), seed);
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
  // Postorder: the vertices of a subtree follow each other, its root comes last. Parents have higher numbers.
  std::vector<Vertex> size(order.size(), 1);  // of subtrees
  for (Vertex j = 0; j < n; ++j) {
    if (parent[at(j)] >= 0) size[at(parent[at(j)])] += size[at(j)];
  }
  std::vector<Vertex> first(order.size());  // in postorder, of the descendants
  std::vector<Vertex> next(order.size());   // where the subtree of the next child begins
  std::vector<Vertex> post(order.size());
  Vertex next_root = 0;
  for (Vertex j = n; j-- > 0;) {
    Vertex& begin = parent[at(j)] >= 0 ? next[at(parent[at(j)])] : next_root;
    first[at(j)] = next[at(j)] = begin;
    begin += size[at(j)];
    post[at(begin - 1)] = j;
  }
  // Counts of columns are sums over subtrees of what leaves of row subtrees add and what their meeting points take off.
  std::vector<Index> count(order.size());
  for (std::size_t j = 0; j < count.size(); ++j) count[j] = size[j] == 1 ? 1 : 0;
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
