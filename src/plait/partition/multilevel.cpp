#include "plait/partition/multilevel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/graph/search.hpp"
#include "plait/partition/bisection.hpp"
#include "plait/partition/coarsen.hpp"
#include "plait/partition/separator.hpp"

namespace plait::partition {

using graph::Coarse;
using graph::Graph;
using graph::GraphView;
using graph::Vertex;

namespace {

constexpr Index coarsest_of_bisection = 40;
constexpr Index coarsest_of_separation = 120;
constexpr int starts_of_bisection = 6;
const Effort effort_of_bisection{.alone = 0};
constexpr int starts_of_all = 4;
constexpr double too_little_coarser = .95;
constexpr int levels_of_blocks = 3;  // eight vertices
constexpr double clearly_fewer = .75;
constexpr double dense = 1.4;  // of edges a vertex after one level, in those before: graphs of a lattice become less so

Index coarsest_of(Index vertices, int parts) { return std::max({Index{120}, Index{20} * parts, vertices / 30}); }

/// Of larger graphs every second one is not kept, but made again on the way back; nor is there a renumbered copy.
constexpr Index most_to_keep = 1 << 20;

double edges_a_vertex(const GraphView& graph) {
  return static_cast<double>(graph.edges()) / static_cast<double>(graph.vertices());
}

/// Whether what is numbered one after the other forms blocks, as the tetrahedra in each cell of a grid: whether, in a
/// sample, merging the nearest numbers leaves clearly fewer edges a vertex than merging the lowest ones.
bool is_in_blocks(const GraphView& graph) {
  std::vector<Vertex> number(at(graph.vertices()), -1);
  auto some = graph::search(graph, static_cast<Vertex>(graph.vertices() / 2), 0, number, 1 << 14);
  std::ranges::sort(some);
  const Graph sample = subgraph(graph, some, number);
  const auto edges_by = [&](Ties ties) {
    Coarse coarse;
    GraphView fine = sample.view();
    for (int level = 0; level < levels_of_blocks; ++level) {
      auto vertex_of = mates_of(fine, graph::most_weight, {}, {}, ties);
      const Vertex vertices = merge(vertex_of);
      coarse = contracted(fine, vertex_of, vertices);
      fine = coarse.view();
    }
    return edges_a_vertex(fine);
  };
  return edges_by(Ties::nearest) < clearly_fewer * edges_by(Ties::lowest);
}

}  // namespace

/// Coarser and coarser graphs, with the homes of their vertices.
class Levels {
 public:
  struct Level {
    Vector<Vertex> vertex_of;  // of the next finer graph's
    Vertex vertices;
    std::optional<Coarse> coarse;
    std::vector<int> label;
    std::vector<int> home;
    std::vector<Index> pull;
  };

  /// \param order         of the finest graph's vertices; empty: that of their numbers
  /// \param finds_blocks  whether what is numbered block by block is merged within blocks first
  Levels(const GraphView& finest, Index coarsest, std::span<const int> labels = {}, const Homes& homes = {},
         std::vector<Vertex> order = {}, bool finds_blocks = false)
      : finest_(finest), finest_labels_(labels), finest_homes_(homes) {
    const Index most_weight = std::max<Index>(finest.total_weight() / std::max<Index>(1, coarsest) * 3 / 2, 1);
    bool in_blocks = false;
    while (graph(depth()).vertices() > coarsest) {
      const GraphView fine = graph(depth());
      const Homes fine_homes = homes_of(depth());
      const std::span<const int> label = this->labels();
      const Ties ties = !in_blocks ? Ties::lowest : depth() < levels_of_blocks ? Ties::nearest : Ties::random;
      Level level{mates_of(fine, most_weight, label, order, ties), 0, {}, {}, {}, {}};
      level.vertices = merge(level.vertex_of, order);
      order = std::vector<Vertex>();  // coarse graphs are numbered in it, and {} would keep its memory
      if (static_cast<double>(level.vertices) > too_little_coarser * static_cast<double>(fine.vertices())) break;
      level.coarse = contracted(fine, level.vertex_of, level.vertices);
      level.label.resize(label.empty() ? 0 : at(level.vertices));
      level.home.resize(fine_homes.part.empty() ? 0 : at(level.vertices));
      level.pull.resize(level.home.size());
      for (Index v = 0; v < fine.vertices(); ++v) {
        const auto to = at(level.vertex_of[v]);
        if (!label.empty()) level.label[to] = label[at(v)];
        if (fine_homes.part.empty()) continue;
        level.home[to] = fine_homes.part[at(v)];
        level.pull[to] += fine_homes.pull[at(v)];
      }
      if (depth() % 2 == 1 && fine.vertices() > most_to_keep) levels_.back().coarse.reset();
      levels_.push_back(std::move(level));
      // In blocks the first mates are the same either way.
      if (finds_blocks && depth() == 1) {
        in_blocks = edges_a_vertex(graph(1)) > dense * edges_a_vertex(finest) && is_in_blocks(finest);
      }
    }
  }

  /// Of the coarsest graph's vertices.
  [[nodiscard]] std::span<const int> labels() const { return levels_.empty() ? finest_labels_ : levels_.back().label; }
  /// 0 is the finest graph.
  [[nodiscard]] int depth() const { return static_cast<int>(levels_.size()); }
  /// \pre  it is kept, as the finest and the coarsest one are
  [[nodiscard]] GraphView graph(int depth) const {
    return depth == 0 ? finest_ : levels_[at(depth - 1)].coarse.value().view();
  }
  [[nodiscard]] Homes homes_of(int depth) const {
    if (depth == 0) return finest_homes_;
    const Level& level = levels_[at(depth - 1)];
    return {level.home, level.pull, finest_homes_.edge_factor};
  }

  /// Parts of the graph that is one finer than the coarsest, which is dropped.
  [[nodiscard]] std::vector<int> expanded(const std::vector<int>& part) {
    levels_.back().coarse.reset();
    std::vector<int> finer;
    finer.reserve(levels_.back().vertex_of.size());
    for (const Vertex to : levels_.back().vertex_of) finer.push_back(part[at(to)]);
    levels_.pop_back();
    if (depth() > 0 && !levels_.back().coarse) {
      levels_.back().coarse = contracted(graph(depth() - 1), levels_.back().vertex_of, levels_.back().vertices);
    }
    return finer;
  }

 private:
  GraphView finest_;
  std::span<const int> finest_labels_;
  Homes finest_homes_;
  std::vector<Level> levels_;
};

namespace {

/// How far apart the numbers of neighbours are, in the mean over a sample of vertices.
template <class F>
double apart(const GraphView& graph, F&& number) {
  const Index sample = std::min<Index>(1 << 14, graph.vertices());
  double sum = 0;
  Index ends = 0;
  for (Index i = 0; i < sample; ++i) {
    const auto v = static_cast<Vertex>(portion(graph.vertices(), i, sample));
    graph.for_each_neighbour(v, [&](Vertex u, Index) { sum += std::abs(number(v) - number(u)); });
    ends += graph.offsets[at(v) + 1] - graph.offsets[at(v)];
  }
  return sum / static_cast<double>(std::max<Index>(1, ends));
}

/// Vertices breadth first, where that at least halves how far apart the numbers of neighbours are; else nothing.
/// An order that follows the shape of a graph makes coarse ones that have its shape as well, and neighbours near in
/// memory.
std::vector<Vertex> order_of_neighbours(const GraphView& graph, double are_apart) {
  const auto n = static_cast<Vertex>(graph.vertices());
  std::vector<Vertex> order;
  order.reserve(at(n));
  std::vector<Vertex> number(at(n), -1);
  for (Vertex root = 0; root < n; ++root) {
    if (number[at(root)] >= 0) continue;
    const auto component = graph::search(graph, root, 0, number);
    order.insert(order.end(), component.begin(), component.end());
  }
  for (Vertex i = 0; i < n; ++i) number[at(order[at(i)])] = i;
  if (2 * apart(graph, [&](Vertex v) { return number[at(v)]; }) > are_apart) order.clear();
  return order;
}

/// More by `slack` of the graph's heaviest vertex: what is as heavy as that can't be balanced well.
Bounds loosened(Bounds bounds, const GraphView& graph, Index slack) {
  const Index heaviest = graph.vertex_weights.empty()
                             ? 1
                             : graph.vertex_weights.with([](auto weights) { return Index{std::ranges::max(weights)}; });
  for (Index& most : bounds.most_weight) most += std::min(slack * heaviest, graph::most_weight - most);
  return bounds;
}

/// Balances and refines on each level from the coarsest to the finest. A part of a coarse graph may weigh more than it
/// may in the end, by `slack` of its heaviest vertex.
std::vector<int> refined_upwards(Levels& levels, std::vector<int> part, const Bounds& bounds, Index slack,
                                 const Effort& effort, std::uint64_t seed) {
  for (;;) {
    const int depth = levels.depth();
    const GraphView graph = levels.graph(depth);
    const std::uint64_t own = random_bits(seed, static_cast<std::uint64_t>(1000 + depth));
    const Bounds loose = loosened(bounds, graph, depth > 0 ? slack : 0);
    Refinement refinement(graph, loose, part, levels.homes_of(depth));
    refinement.balance(own);
    refinement.refine(effort, own);
    if (depth == 0) return part;
    part = levels.expanded(part);
  }
}

/// The best of several parts. What it and the next ones have in common stays together while it is improved.
std::vector<int> combined(const GraphView& graph, const Bounds& bounds, std::vector<std::vector<int>> starts,
                          std::uint64_t seed) {
  std::vector<std::tuple<Index, Index, std::size_t>> ranked;  // by excess and cut
  for (std::vector<int>& part : starts) {
    ranked.emplace_back(Refinement(graph, bounds, part).excess(), cut_of(graph, part), ranked.size());
  }
  std::ranges::sort(ranked);
  const auto start = [&](std::size_t place) -> std::vector<int>& { return starts[std::get<2>(ranked[place])]; };
  auto part = std::move(start(0));
  const std::vector<Index> no_pull(part.size());
  for (std::size_t i = 1; i < ranked.size(); ++i) improve(graph, bounds, part, {start(i), no_pull}, seed + 100 + i);
  return part;
}

/// Grows part 0 from a vertex, along what it is tied to most, until it weighs `wanted`.
std::vector<int> grown(const GraphView& graph, Vertex root, Index wanted, Index most, Index least_vertices) {
  const Index n = graph.vertices();
  std::vector<int> part(at(n), 1);
  std::vector<Index> gain(at(n));
  struct Entry {
    Index gain;
    Index order;
    Vertex v;
    bool operator<(const Entry& other) const { return gain != other.gain ? gain < other.gain : order > other.order; }
  };
  std::priority_queue<Entry> heap;
  Index order = 0;  // among equals those that were reached first: what grows is round, however vertices are numbered
  std::vector<bool> is_refused(at(n));
  for (Vertex v = 0; v < n; ++v) graph.for_each_neighbour(v, [&](Vertex, Index weight) { gain[at(v)] -= weight; });
  Index weight = 0;
  Index count = 0;
  Index roots = root;
  Index looked_at = 0;
  while (weight < wanted || count < least_vertices) {
    if (heap.empty()) {
      while (looked_at < n && (part[at(roots)] == 0 || is_refused[at(roots)])) {
        roots = (roots + 1) % n;
        ++looked_at;
      }
      if (looked_at == n) break;
      heap.push({gain[at(roots)], order++, static_cast<Vertex>(roots)});
    }
    const auto [its, when, v] = heap.top();
    heap.pop();
    if (part[at(v)] == 0 || is_refused[at(v)] || its != gain[at(v)]) continue;
    if (weight + graph.weight(v) > most) {
      is_refused[at(v)] = true;
      continue;
    }
    part[at(v)] = 0;
    weight += graph.weight(v);
    ++count;
    graph.for_each_neighbour(v, [&](Vertex u, Index edge) {
      gain[at(u)] += 2 * edge;
      if (part[at(u)] == 0 || is_refused[at(u)]) return;
      heap.push({gain[at(u)], order++, u});
    });
  }
  return part;
}

/// Two parts of the coarsest graph, grown from several vertices, refined, and made into what is wanted: those with the
/// least excess and then the least cost, which `finish` returns.
template <class F>
std::vector<int> best_start(const GraphView& small, const Bounds& bounds, Index wanted, std::uint64_t seed,
                            F&& finish) {
  std::vector<int> best;
  std::pair<Index, Index> least;
  for (int start = 0; start < starts_of_bisection; ++start) {
    const std::uint64_t own = random_bits(seed, static_cast<std::uint64_t>(500 + start));
    // From an end of the graph, and from anywhere.
    const auto root = start == 0 ? graph::far_out(small, 0) : static_cast<Vertex>(own % at(small.vertices()));
    auto part = grown(small, root, wanted, bounds.most_weight[Index{0}], bounds.least_vertices[Index{0}]);
    Refinement refinement(small, bounds, part);
    refinement.balance(own);
    refinement.refine(effort_of_bisection, own);
    const std::pair is(refinement.excess(), finish(part));
    if (start > 0 && is >= least) continue;
    least = is;
    best = std::move(part);
  }
  return best;
}

std::vector<int> bisected(const GraphView& graph, const Bounds& bounds, Index wanted, std::uint64_t seed) {
  Levels levels(
      graph, std::max(coarsest_of_bisection, 8 * (bounds.least_vertices[Index{0}] + bounds.least_vertices[Index{1}])));
  const GraphView small = levels.graph(levels.depth());
  auto best = best_start(small, loosened(bounds, small, levels.depth() > 0 ? 1 : 0), wanted, seed,
                         [&](std::span<int> part) { return cut_of(small, part); });
  return refined_upwards(levels, std::move(best), bounds, 1, effort_of_bisection, seed);
}

}  // namespace

std::vector<int> separated(const GraphView& graph, Index most_weight, std::uint64_t seed) {
  const Bounds bounds{{most_weight, most_weight}, {1, 1}};
  Levels levels(graph, coarsest_of_separation);
  const GraphView small = levels.graph(levels.depth());
  auto side = best_start(small, bounds, graph.total_weight() / 2, seed, [&](std::span<int> halves) {
    for (const Vertex v : graph::least_separator(small, halves)) halves[at(v)] = 2;
    refine_separator(small, most_weight, halves);
    return separator_weight(small, halves);
  });
  while (levels.depth() > 0) {
    side = levels.expanded(side);
    refine_separator(levels.graph(levels.depth()), most_weight, side);
  }
  // Levels are lighter where they are oblique, as in a grid of three dimensions.
  if (auto other = separated_by_level(graph, most_weight); !other.empty()) {
    refine_separator(graph, most_weight, other);
    if (separator_weight(graph, other) < separator_weight(graph, side)) side = std::move(other);
  }
  return side;
}

std::vector<int> pieces_of(const GraphView& graph, std::span<const Index> wanted, double imbalance,
                           std::uint64_t seed) {
  return by_halves(graph, {static_cast<int>(wanted.size()), 0, seed}, [&](const GraphView& piece, const Halving& own) {
    Bounds bounds{{}, {own.few(), own.many()}};
    std::array<Index, 2> sums{};
    for (int p = 0; p < own.parts; ++p) sums[p < own.few() ? 0 : 1] += wanted[at(own.first + p)];
    for (const Index sum : sums) {
      bounds.most_weight.push_back(
          static_cast<Index>(std::min(static_cast<double>(sum) * (1 + imbalance) + 1, 0x1p62)));
    }
    return bisected(piece, bounds, sums[0], own.seed);
  });
}

Multilevel::Multilevel(const GraphView& graph, const Bounds& bounds, std::uint64_t seed)
    : bounds_(bounds), seed_(seed) {
  const double are_apart = apart(graph, [](Vertex v) { return v; });
  // As in a grid, of which it is known without a search.
  const bool is_in_order = are_apart * 16 < static_cast<double>(graph.vertices());
  std::vector<Vertex> order;
  if (!is_in_order) order = order_of_neighbours(graph, are_apart);
  if (graph.vertices() <= most_to_keep) order_.swap(order);
  if (!order_.empty()) {
    std::vector<Vertex> number(order_.size());
    renumbered_ = subgraph(graph, order_, number);
  }
  levels_ = std::make_unique<Levels>(order_.empty() ? graph : renumbered_.view(),
                                     coarsest_of(graph.vertices(), bounds.parts()), std::span<const int>(), Homes{},
                                     std::move(order), is_in_order);
}

Multilevel::~Multilevel() = default;

GraphView Multilevel::coarsest() const { return levels_->graph(levels_->depth()); }

std::vector<int> Multilevel::refined(std::vector<std::vector<int>> starts) {
  auto part = combined(coarsest(), bounds_, std::move(starts), seed_);
  part = refined_upwards(*levels_, std::move(part), bounds_, 1, {}, seed_);
  if (order_.empty()) return part;
  std::vector<int> result(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) result[at(order_[i])] = part[i];
  return result;
}

Starts::Starts(const GraphView& graph, const GraphView& coarsest, const Bounds& bounds, std::uint64_t seed)
    : coarsest_(coarsest), bounds_(bounds), seed_(seed) {
  const double work = static_cast<double>(coarsest.edges()) * std::log2(static_cast<double>(bounds.parts()));
  count_ = static_cast<int>(std::clamp(static_cast<double>(graph.edges()) / 2 / (work + 1), 1.0, 1.0 * starts_of_all));
}

std::vector<int> Starts::bisected(int start, const Team& team) const {
  const Halving all{bounds_.parts(), 0, random_bits(seed_, static_cast<std::uint64_t>(start))};
  return by_halves(
      coarsest_, all,
      [&](const GraphView& piece, const Halving& halves) {
        const Index total = piece.total_weight();
        const Bounds own = bounds_of(halves, total, bounds_.most_weight.front());
        return plait::partition::bisected(piece, own, halves.wanted(total), halves.seed);
      },
      team);
}

void Starts::refine(int start, std::span<int> part) const {
  const std::uint64_t own = random_bits(seed_, static_cast<std::uint64_t>(start));
  Refinement refinement(coarsest_, bounds_, part);
  refinement.balance(own);
  refinement.refine({}, own);
}

void improve(const GraphView& graph, const Bounds& bounds, std::span<int> part, const Homes& homes,
             std::uint64_t seed) {
  // Vertices with the same part and the same home have the same label.
  std::map<std::pair<int, int>, int> labels;
  std::vector<int> part_of;  // each label
  std::vector<int> label(part.size());
  for (std::size_t v = 0; v < part.size(); ++v) {
    const auto [known, is_new] =
        labels.try_emplace({part[v], homes.part.empty() ? part[v] : homes.part[v]}, static_cast<int>(part_of.size()));
    if (is_new) part_of.push_back(part[v]);
    label[v] = known->second;
  }
  Levels levels(graph, coarsest_of(graph.vertices(), bounds.parts()), label, homes);
  std::vector<int> coarse;
  for (const int l : levels.labels()) coarse.push_back(part_of[at(l)]);
  const auto result = refined_upwards(levels, std::move(coarse), bounds, 0, {}, seed);
  std::ranges::copy(result, part.begin());
}

}  // namespace plait::partition
