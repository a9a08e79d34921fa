#include "plait/partition/repartition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/graph/assignment/assignment.hpp"
#include "plait/krylov/conjugate_gradient.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/node/threads.hpp"
#include "plait/partition/bisection.hpp"
#include "plait/partition/multilevel.hpp"
#include "plait/partition/partition.hpp"
#include "plait/partition/quality.hpp"
#include "plait/partition/refine.hpp"

namespace plait::partition {

using graph::Graph;
using graph::GraphView;
using graph::Vertex;

namespace {

enum class Start : unsigned char { scratch, flow, handed_over, kept };
/// Where a way begins, and what it costs that the data of a vertex moves, in weights of an edge.
struct Recipe {
  Start start;
  double price;
  [[nodiscard]] std::string name() const {
    if (start == Start::scratch) return "from scratch";
    if (start == Start::kept) return price > 0 ? "balanced alone" : "kept";
    return fmt::format("{}, price {:g}", start == Start::flow ? "by a flow" : "handed over", price);
  }
};
// Of equal ways the first is named.
constexpr std::array<Recipe, 9> recipes{{{Start::kept, 0},
                                         {Start::scratch, 0},
                                         {Start::flow, 0},
                                         {Start::flow, .1},
                                         {Start::handed_over, .01},
                                         {Start::handed_over, .03},
                                         {Start::handed_over, .1},
                                         {Start::handed_over, .3},
                                         {Start::kept, 100}}};

/// How much weight is to go over each edge of the quotient graph so that all parts weigh the same, with the least
/// squares: differences of potentials that solve L x = excess, by conjugate gradients.
std::vector<double> balancing_flow(const GraphView& quotient) {
  const auto n = static_cast<std::size_t>(quotient.vertices());
  const auto components = graph::components_of(quotient);
  std::vector<double> mean(at(components.count));
  std::vector<double> count(mean.size());
  for (std::size_t p = 0; p < n; ++p) {
    mean[at(components.of[static_cast<Index>(p)])] += static_cast<double>(quotient.weight(static_cast<Index>(p)));
    ++count[at(components.of[static_cast<Index>(p)])];
  }
  std::vector<double> excess(n);
  for (std::size_t p = 0; p < n; ++p) {
    const auto component = at(components.of[static_cast<Index>(p)]);
    excess[p] = static_cast<double>(quotient.weight(static_cast<Index>(p))) - mean[component] / count[component];
  }
  const krylov::Operator<double> laplacian = [&](std::span<const double> in, std::span<double> out) {
    for (std::size_t p = 0; p < n; ++p) {
      out[p] = 0;
      quotient.for_each_neighbour(static_cast<Index>(p), [&](Vertex q, Index) { out[p] += in[p] - in[at(q)]; });
    }
  };
  std::vector<double> x(n);
  mpi::Context alone(MPI_COMM_SELF);
  krylov::ConjugateGradient<double> gradients(
      alone, {laplacian, excess, x}, {.limits{.tolerance = 1e-10, .most_iterations = 4 * quotient.vertices() + 20}});
  while (gradients.advance()) continue;
  std::vector<double> flow;
  for (Index p = 0; p < quotient.vertices(); ++p) {
    quotient.for_each_neighbour(p, [&](Vertex q, Index) { flow.push_back(x[at(p)] - x[at(q)]); });
  }
  return flow;
}

/// Moves vertices at borders over the edges of the quotient graph until the flow is spent, layer by layer, those of a
/// layer first that are tied most to where they go. Each move leaves less to do than before, so that this ends.
void diffuse(const GraphView& graph, int parts, std::span<int> part) {
  const Graph quotient = quotient_of(graph, part, parts);
  std::vector<double> left = balancing_flow(quotient.view());
  const auto edge = [&](int p, int q) {
    const auto begin = quotient.neighbours.begin() + quotient.offsets[p];
    const auto end = quotient.neighbours.begin() + quotient.offsets[p + Index{1}];
    const auto found = std::lower_bound(begin, end, q);
    return found != end && *found == q ? found - quotient.neighbours.begin() : Index{-1};
  };
  struct Offer {
    Index gain;
    Vertex v;
    Index edge;
  };
  std::vector<Index> tie(at(parts));  // of a vertex to each part; 0 between its uses
  std::vector<Index> count(at(parts));
  for (const int p : part) ++count[at(p)];
  std::vector<Vertex> near(part.size());
  std::iota(near.begin(), near.end(), 0);
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    std::vector<Offer> offers;
    for (const Vertex v : near) {
      const int own = part[at(v)];
      graph.for_each_neighbour(v, [&](Vertex u, Index weight) { tie[at(part[at(u)])] += weight; });
      for (Index e = quotient.offsets[own]; e < quotient.offsets[own + Index{1}]; ++e) {
        const Index strength = tie[at(quotient.neighbours[e])];
        if (strength > 0 && left[at(e)] > 0) offers.push_back({strength - tie[at(own)], v, e});
      }
      graph.for_each_neighbour(v, [&](Vertex u, Index) { tie[at(part[at(u)])] = 0; });
    }
    std::ranges::sort(offers, [](const Offer& a, const Offer& b) {
      return std::tuple(-a.gain, a.v, a.edge) < std::tuple(-b.gain, b.v, b.edge);
    });
    std::vector<Vertex> next;
    for (const Offer& offer : offers) {
      const int from = part[at(offer.v)];
      const int to = quotient.neighbours[offer.edge];
      const bool is_there = offer.edge >= quotient.offsets[from] && offer.edge < quotient.offsets[from + Index{1}];
      const auto weight = static_cast<double>(graph.weight(offer.v));
      if (!is_there || weight == 0 || left[at(offer.edge)] <= weight / 2 * (1 + 1e-9) || count[at(from)] == 1) continue;
      left[at(offer.edge)] -= weight;
      if (const Index back = edge(to, from); back >= 0) left[at(back)] += weight;
      part[at(offer.v)] = to;
      --count[at(from)];
      ++count[at(to)];
      has_moved = true;
      graph.for_each_neighbour(offer.v, [&](Vertex u, Index) { next.push_back(u); });
      next.push_back(offer.v);
    }
    for (const Offer& offer : offers) next.push_back(offer.v);
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    near = std::move(next);
  }
}

/// Cuts what the parts [begin, end) have too much into pieces, and gives each to a part that has too little, to
/// neighbours first: what is heavy moves once, wherever it is to go. Parts from `parts` on give all that they have.
void hand_over(const GraphView& graph, int parts, int begin_givers, int end_givers, std::span<int> part,
               std::uint64_t seed) {
  const int all = std::max(parts, end_givers);
  const Graph quotient = quotient_of(graph, part, all);
  const Index even = graph.total_weight() / parts;
  Vector<Index> lacks(Index{all});
  for (int p = 0; p < all; ++p) lacks[p] = (p < parts ? even : 0) - quotient.vertex_weights[p];
  std::vector<int> givers;
  for (int p = begin_givers; p < end_givers; ++p) {
    if (lacks[p] < 0 || p >= parts) givers.push_back(p);
  }
  std::ranges::stable_sort(givers, {}, [&](int p) { return lacks[p]; });
  const Index too_little = even / 50;
  std::vector<Vertex> number(part.size());
  for (const int giver : givers) {
    std::vector<int> takers;
    for (int p = 0; p < parts; ++p) {
      if (lacks[p] > too_little) takers.push_back(p);
    }
    const auto begin = quotient.neighbours.begin() + quotient.offsets[giver];
    const auto end = quotient.neighbours.begin() + quotient.offsets[giver + Index{1}];
    std::ranges::stable_sort(takers, {},
                             [&](int p) { return std::pair(!std::binary_search(begin, end, p), -lacks[p]); });
    std::vector<int> owners;
    std::vector<Index> wanted;
    if (giver < parts) {
      owners.push_back(giver);
      wanted.push_back(even);
    }
    for (const int taker : takers) {
      const Index some = std::min(lacks[taker], -lacks[giver]);
      if (some <= too_little) break;
      owners.push_back(taker);
      wanted.push_back(some);
      lacks[taker] -= some;
      lacks[giver] += some;
    }
    if (owners.empty()) {
      owners.push_back(static_cast<int>(std::max_element(lacks.begin(), lacks.begin() + parts) - lacks.begin()));
      wanted.push_back(0);
    }
    if (owners.back() == giver) continue;
    wanted[0] -= lacks[giver];
    if (owners[0] != giver) lacks[owners[0]] += lacks[giver];
    std::vector<Vertex> vertices;
    for (std::size_t v = 0; v < part.size(); ++v) {
      if (part[v] == giver) vertices.push_back(static_cast<Vertex>(v));
    }
    const auto piece = pieces_of(subgraph(graph, vertices, number).view(), wanted, .01, seed);
    for (std::size_t i = 0; i < vertices.size(); ++i) part[at(vertices[i])] = owners[at(piece[i])];
  }
}

Index moved_of(const GraphView& graph, std::span<const int> old_part, std::span<const int> part) {
  Index sum = 0;
  for (std::size_t v = 0; v < part.size(); ++v) {
    if (part[v] != old_part[v]) sum += graph.size(static_cast<Index>(v));
  }
  return sum;
}

/// Balances the old parts, and refines them at a price of what moves.
std::vector<int> refined(const GraphView& graph, std::span<const int> old_part, const Bounds& bounds,
                         const Recipe& recipe, std::uint64_t seed) {
  const double price = recipe.price;
  const int parts = bounds.parts();
  std::vector<int> part(old_part.begin(), old_part.end());
  if (const int all = std::ranges::max(part) + 1; all > parts) hand_over(graph, parts, parts, all, part, seed);
  const std::vector<int> home = part;
  if (recipe.start == Start::flow) {
    diffuse(graph, parts, part);
  } else if (recipe.start == Start::handed_over) {
    hand_over(graph, parts, 0, parts, part, seed);
  } else if (price == 0) {
    return part;
  }
  // Whole numbers: as fine as their sum can be without overflow.
  double edges = static_cast<double>(graph.edges());
  if (!graph.edge_weights.empty()) {
    edges = graph.edge_weights.with([](auto weights) { return std::reduce(weights.begin(), weights.end(), 0.0) / 2; });
  }
  edges = std::max(1.0, edges);
  const double edge = edges / std::max(1.0, static_cast<double>(graph.edges()));
  const double size = std::max(1.0, static_cast<double>(graph.total_size())) / static_cast<double>(graph.vertices());
  const auto factor = static_cast<Index>(std::clamp(0x1p60 / edges, 1.0, 100.0));
  std::vector<Index> pull(part.size());
  for (std::size_t v = 0; v < pull.size(); ++v) {
    if (old_part[v] >= parts) continue;  // moves anyway
    const double cost =
        price * static_cast<double>(factor) * edge / size * static_cast<double>(graph.size(static_cast<Index>(v)));
    pull[v] = static_cast<Index>(std::min(cost, 0x1p61 / static_cast<double>(graph.vertices())));
  }
  const Homes homes = price > 0 ? Homes{home, pull, factor} : Homes{};
  improve(graph, bounds, part, homes, seed);
  return part;
}

}  // namespace

void relabel(const GraphView& graph, std::span<const int> old_part, int parts, std::span<int> part) {
  std::vector<graph::Saving> savings;
  for (std::size_t v = 0; v < part.size(); ++v) {
    if (old_part[v] >= parts) continue;
    savings.push_back({part[v], old_part[v], graph.size(static_cast<Index>(v))});
  }
  const auto label = graph::assign_sparse(graph::SparseSavings::from_entries(parts, savings));
  for (int& p : part) p = label[at(p)];
}

Repartition repartition(mpi::Context& context, const GraphView& graph, const Points& points,
                        std::span<const int> old_part, const RepartitionOptions& options) {
  mpi::agreed(context, [&](mpi::Alike& alike) {
    alike.add("parts", options.parts);
    alike.add("vertices", graph.vertices());
    alike.add("imbalance", options.imbalance);
    alike.add("share that may move", options.most_moved);
    alike.add("seed", options.seed);
    if (static_cast<Index>(old_part.size()) != graph.vertices()) {
      throw ArgumentError(fmt::format("old parts of {} vertices; expected {}", old_part.size(), graph.vertices()));
    }
    for (std::size_t v = 0; v < old_part.size(); ++v) {
      if (old_part[v] >= 0 && static_cast<Index>(old_part[v]) < graph.vertices()) continue;
      throw ArgumentError(
          fmt::format("vertex {} was in part {}; expected 0 to {}", v, old_part[v], graph.vertices() - 1));
    }
  });
  auto scratch = partition(context, graph, points, {options.parts, options.imbalance, Method::best, options.seed}).part;
  const Bounds bounds{
      Vector<Index>(Index{options.parts}, most_weight_of(graph.total_weight(), options.parts, options.imbalance)),
      Vector<Index>(Index{options.parts}, 1)};

  struct Found {
    Index excess;
    Index cut;
    Index moved;
  };
  constexpr std::size_t ways = recipes.size();
  std::array<std::vector<int>, ways> mine;
  std::array<Found, ways> found{};
  const auto ranks = static_cast<std::size_t>(context.size());
  const mpi::NodeThreads threads(context.topology());
  mpi::agreed(context, [&] {
    for (auto i = static_cast<std::size_t>(context.rank()); i < ways; i += ranks) {
      mine[i] =
          recipes[i].start == Start::scratch ? scratch : refined(graph, old_part, bounds, recipes[i], options.seed);
      relabel(graph, old_part, options.parts, mine[i]);
      found[i] = {Refinement(graph, bounds, mine[i]).excess(), cut_of(graph, mine[i]),
                  moved_of(graph, old_part, mine[i])};
    }
  });
  const auto all = mpi::all_gather(context.comm(), found);
  const auto sizes = static_cast<double>(graph.total_size());
  const double allowed = options.most_moved * sizes;
  std::vector<std::pair<Way, std::size_t>> balanced;
  for (std::size_t i = 0; i < ways; ++i) {
    const auto& [excess, cut, moved] = all[i % ranks][i];
    if (excess == 0) balanced.push_back({{recipes[i].name(), cut, moved}, i});
  }
  std::ranges::stable_sort(balanced, {}, [](const auto& one) { return std::tuple(one.first.moved, one.first.cut); });
  Repartition result;
  std::size_t chosen = ways;
  for (const auto& [way, number] : balanced) {
    if (!result.front.empty() && result.front.back().cut <= way.cut) continue;
    result.front.push_back(way);
    if (static_cast<double>(way.moved) > allowed) continue;
    result.way = way;  // each of the front has less cut than those before
    chosen = number;
  }
  if (chosen == ways) {
    const Way& least = result.front.front();
    throw ArgumentError(fmt::format(
        "no way was found that moves at most {:.4g} % of the data; the least, {}, moves {:.4g} %: expected more to be "
        "allowed, or a larger imbalance",
        100 * options.most_moved, least.name, 100 * static_cast<double>(least.moved) / std::max(1.0, sizes)));
  }
  result.part = std::move(mine[chosen]);
  mpi::agreed(context, [&] { result.part.resize(at(graph.vertices())); });
  mpi::broadcast(context.comm(), std::span<int>(result.part), static_cast<int>(chosen % ranks));
  return result;
}

}  // namespace plait::partition
