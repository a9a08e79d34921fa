#include "plait/partition/partition.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/parallel.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/node/threads.hpp"
#include "plait/mpi/node_copy.hpp"
#include "plait/partition/kernighan_lin.hpp"
#include "plait/partition/multilevel.hpp"
#include "plait/partition/refine.hpp"
#include "plait/partition/spectral.hpp"

namespace plait::partition {

using graph::GraphView;
using graph::Vertex;

namespace {

void expect_possible(const GraphView& graph, const Options& options) {
  if (options.parts < 1) throw ArgumentError(fmt::format("{} parts; expected 1 at least", options.parts));
  if (!(options.imbalance >= 0)) {
    throw ArgumentError(fmt::format("an imbalance of {}; expected 0 at least", options.imbalance));
  }
  if (options.parts > graph.vertices()) {
    throw ArgumentError(
        fmt::format("{} parts of {} vertices: at least {} of them would be empty; expected at most as "
                    "many parts as vertices",
                    options.parts, graph.vertices(), options.parts - graph.vertices()));
  }
  const Index most = most_weight_of(graph.total_weight(), options.parts, options.imbalance);
  for (Index v = 0; v < graph.vertices(); ++v) {
    if (graph.weight(v) <= most) continue;
    throw ArgumentError(fmt::format(
        "vertex {} (counted from 0) weighs {}, more than the {} that one of {} parts may weigh with an imbalance of {}",
        v, graph.weight(v), most, options.parts, options.imbalance));
  }
}

/// The heaviest vertices first, each into the lightest part: what weights alone allow, whatever the cut.
std::vector<int> packed(const GraphView& graph, int parts) {
  std::vector<Vertex> order(at(graph.vertices()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](Vertex v) { return graph.weight(v); });
  using Load = std::tuple<Index, Index, int>;  // weight, vertices, part
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int p = 0; p < parts; ++p) loads.push({0, 0, p});
  std::vector<int> part(order.size());
  for (const Vertex v : order) {
    const auto [weight, vertices, lightest] = loads.top();
    loads.pop();
    part[at(v)] = lightest;
    loads.push({weight + graph.weight(v), vertices + 1, lightest});
  }
  return part;
}

/// Up to so many vertices, each method takes a fraction of a second, whatever the graph.
constexpr Index most_for_all = 1 << 9;

/// The methods that are tried.
std::vector<Method> methods_of(const Options& options, const GraphView& graph, const Points& points) {
  if (options.method != Method::best) return {options.method};
  std::vector<Method> methods{Method::multilevel};
  if (points.are_there())
    methods.insert(methods.end(), {Method::orb, Method::inertial, Method::hilbert, Method::morton});
  if (graph.vertices() <= most_for_all) {
    methods.insert(methods.end(), {Method::spectral, Method::levels, Method::kl});
  }
  return methods;
}

/// What is worth keeping: least excess, then least cut, then the first start.
struct Candidate {
  Index excess = std::numeric_limits<Index>::max();
  Index cut = std::numeric_limits<Index>::max();
  Index start = std::numeric_limits<Index>::max();  // a Method
  friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

/// The first parts of the coarsest graph, on all ranks. Each start is the work of a rank or, where there are more ranks
/// than starts, of several, that deal out its halves; threads share starts and halves.
std::vector<std::vector<int>> first_parts(mpi::Context& context, const GraphView& coarsest, const Starts& starts) {
  const int rank = context.rank();
  const int teams = std::min(context.size(), starts.count());
  std::vector<std::vector<int>> parts(at(starts.count()), std::vector<int>(at(coarsest.vertices())));
  mpi::agreed(context, [&] {
    in_tasks(rank % teams, starts.count(), teams, [&](int start) {
      parts[at(start)] = starts.bisected(start, {rank / teams, (context.size() - rank % teams + teams - 1) / teams});
    });
  });
  for (auto& part : parts) {
    if (context.size() > teams) mpi::all_reduce(context.comm(), std::span<int>(part), mpi::Operation::sum());
  }
  mpi::agreed(context, [&] {
    in_tasks(rank, starts.count(), teams, [&](int start) { starts.refine(start, parts[at(start)]); });
  });
  for (int start = 0; start < starts.count(); ++start) {
    mpi::broadcast(context.comm(), std::span<int>(parts[at(start)]), start % teams);
  }
  return parts;
}

/// A graph that rank 0 has, for all ranks.
class Shown {
 public:
  Shown(mpi::Context& context, const GraphView& graph)
      : copy_(context, {std::as_bytes(graph.offsets), std::as_bytes(graph.neighbours), graph.edge_weights.bytes(),
                        graph.vertex_weights.bytes()}) {
    const auto ends = copy_.piece<Vertex>(1).size();
    view_ = {copy_.piece<Index>(0), copy_.piece<Vertex>(1), weights(2, ends), {}, {}};
    view_.vertex_weights = weights(3, at(view_.vertices()));
  }
  [[nodiscard]] const GraphView& view() const noexcept { return view_; }

 private:
  [[nodiscard]] graph::Weights weights(std::size_t piece, std::size_t count) const {
    if (copy_.piece<std::byte>(piece).size() > count * sizeof(std::uint16_t)) return copy_.piece<Index>(piece);
    return copy_.piece<std::uint16_t>(piece);
  }

  mpi::NodeCopy copy_;
  GraphView view_;
};

}  // namespace

std::string_view name(Method method) {
  constexpr std::array<std::string_view, 9> names{"best", "multilevel", "spectral", "levels", "kl",
                                                  "orb",  "inertial",   "hilbert",  "morton"};
  return names[static_cast<std::size_t>(method)];
}

Index most_weight_of(Index total, int parts, double imbalance) {
  const Index even = total / parts + (total % parts != 0 ? 1 : 0);
  const long double most = static_cast<long double>(total) / parts * (1 + static_cast<long double>(imbalance));
  if (most >= static_cast<long double>(total)) return std::max(total, even);
  // 1e-15 of it: what the product is off by must not cost a whole unit.
  return std::max(even, static_cast<Index>(most * (1 + 1e-15L)));
}

Partition partition(mpi::Context& context, const GraphView& graph, const Points& points, const Options& options) {
  const auto methods = mpi::agreed(context, [&](mpi::Alike& alike) {
    alike.add("parts", options.parts);
    alike.add("vertices", graph.vertices());
    alike.add("edges", graph.edges());
    alike.add("dimensions of points", points.dimensions);
    alike.add("imbalance", options.imbalance);
    alike.add("method", options.method);
    alike.add("seed", options.seed);
    expect_possible(graph, options);
    if (points.are_there()) {
      expect_points(points, graph.vertices());
    } else if (options.method >= Method::orb) {
      throw ArgumentError(fmt::format("the method {} needs points", name(options.method)));
    }
    return methods_of(options, graph, points);
  });
  const int parts = options.parts;
  const Bounds bounds{Vector<Index>(Index{parts}, most_weight_of(graph.total_weight(), parts, options.imbalance)),
                      Vector<Index>(Index{parts}, 1)};
  std::vector<int> best;
  Candidate mine;
  std::pair<std::vector<int>, Fiedler> by_spectrum;
  if (options.method == Method::spectral) by_spectrum = spectral(context, graph, parts, options.seed);
  const auto offer = [&](Method start, std::vector<int> part) {
    const Candidate is{Refinement(graph, bounds, part).excess(), cut_of(graph, part), static_cast<Index>(start)};
    if (is >= mine) return;
    mine = is;
    best = std::move(part);
  };
  // Rank 0 coarsens and refines by itself; the others do all that is not multilevel.
  const bool is_multilevel = methods.front() == Method::multilevel;
  const mpi::NodeThreads threads(context.topology());
  const int others = std::max(1, context.size() - 1);
  const int turn = context.rank() - (context.size() - others);  // below 0: none
  std::size_t next = turn < 0 ? methods.size() : at(turn + (is_multilevel ? 1 : 0));
  const auto try_next = [&] {
    if (next >= methods.size()) return false;
    const Method start = methods[std::exchange(next, next + at(others))];
    std::vector<int> part;
    if (start >= Method::orb) {
      part = by_geometry(start, points, graph.vertex_weights, parts);
    } else if (start != Method::spectral) {
      part = by_levels(graph, bounds, start == Method::kl, options.seed);
    } else if (options.method == Method::spectral) {
      part = by_spectrum.first;
    } else {
      mpi::Context alone(MPI_COMM_SELF);  // many small reductions: quicker than on all ranks
      part = spectral(alone, graph, parts, options.seed).first;
    }
    Refinement refinement(graph, bounds, part);
    refinement.balance(options.seed);
    refinement.refine({}, options.seed);
    offer(start, std::move(part));
    return true;
  };
  std::optional<Multilevel> levels;
  std::vector<std::vector<int>> first;
  if (is_multilevel) {
    mpi::agreed(context, [&] {
      if (context.rank() == 0) {
        levels.emplace(graph, bounds, options.seed);
      } else {
        try_next();
      }
    });
    const Shown coarsest(context, levels ? levels->coarsest() : GraphView{});
    first = first_parts(context, coarsest.view(), Starts(graph, coarsest.view(), bounds, options.seed));
  }
  mpi::agreed(context, [&] {
    if (levels) offer(Method::multilevel, levels->refined(std::move(first)));
    levels.reset();
    while (try_next()) continue;
  });
  const auto candidates = mpi::all_gather(context.comm(), mine);
  const auto least = std::ranges::min_element(candidates);
  const Candidate& winner = *least;
  mpi::agreed(context, [&] { best.resize(at(graph.vertices())); });
  mpi::broadcast(context.comm(), std::span<int>(best), static_cast<int>(least - candidates.begin()));
  Partition result{std::move(best), winner.cut, std::string(name(static_cast<Method>(winner.start))), {}};
  if (winner.excess == 0) {
    if (options.method == Method::spectral && parts == 2) {
      result.least_cut = by_spectrum.second.least_cut(std::ranges::count(result.part, 0), graph.vertices());
    }
    return result;
  }

  // All ranks do the same.
  mpi::agreed(context, [&] {
    result.part = packed(graph, parts);
    Refinement refinement(graph, bounds, result.part);
    if (!refinement.balance(options.seed)) {
      const auto quality = std::ranges::max(refinement.weights());
      throw ArgumentError(
          fmt::format("no {} parts of at most {} were found, as an imbalance of {} allows: the heaviest vertices "
                      "first, each into the "
                      "lightest part, make one of {}; expected lighter vertices, fewer parts or a larger imbalance",
                      parts, bounds.most_weight[Index{0}], options.imbalance, quality));
    }
    refinement.refine({}, options.seed);
    result.cut = cut_of(graph, result.part);
    result.start = "packed by weight";
  });
  return result;
}

}  // namespace plait::partition
