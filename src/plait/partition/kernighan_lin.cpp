#include "plait/partition/kernighan_lin.hpp"

#include <algorithm>
#include <limits>

#include "plait/graph/search.hpp"
#include "plait/partition/bisection.hpp"

namespace plait::partition {

using graph::GraphView;
using graph::Vertex;

std::vector<int> sides_by_levels(const GraphView& graph, std::span<const Vertex> level, const Bounds& bounds,
                                 Index wanted) {
  Line line;
  for (Vertex v = 0; at(v) < level.size(); ++v) line.emplace_back(level[at(v)], v);
  std::ranges::sort(line);
  const auto least = std::pair(bounds.least_vertices[Index{0}], bounds.least_vertices[Index{1}]);
  const std::size_t place = median(graph, line, wanted, least);
  const Index total = graph.total_weight();
  const auto weight_before = [&](std::size_t end) {
    Index sum = 0;
    for (std::size_t i = 0; i < end; ++i) sum += graph.weight(line[i].second);
    return sum;
  };
  const double middle = line[std::min(place, line.size() - 1)].first;
  const auto begin = std::ranges::lower_bound(line, middle, {}, &Line::value_type::first);
  const auto end = std::ranges::upper_bound(line, middle, {}, &Line::value_type::first);
  std::size_t best = place;
  Index nearest = std::numeric_limits<Index>::max();
  for (const auto bound : {begin, end}) {
    const auto here = static_cast<std::size_t>(bound - line.begin());
    const Index before = weight_before(here);
    const bool fits = before <= bounds.most_weight[Index{0}] && total - before <= bounds.most_weight[Index{1}] &&
                      here >= at(least.first) && line.size() - here >= at(least.second);
    const Index far = before > wanted ? before - wanted : wanted - before;
    if (!fits || far >= nearest) continue;
    nearest = far;
    best = here;
  }
  return sides_of(line, best);
}

Exchange::Exchange(const GraphView& graph, const Bounds& bounds, std::span<int> side)
    : graph_(graph), bounds_(bounds), side_(side), difference_(side.size()) {
  for (std::size_t v = 0; v < side.size(); ++v) {
    weight_[at(side[v])] += graph.weight(static_cast<Index>(v));
    graph.for_each_neighbour(static_cast<Index>(v), [&](Vertex u, Index weight) {
      difference_[v] += side[at(u)] == side[v] ? -weight : weight;
    });
  }
}

Index Exchange::excess() const {
  Index sum = 0;
  for (const int which : {0, 1}) sum += std::max(Index{0}, weight_[at(which)] - bounds_.most_weight[which]);
  return sum;
}

Index Exchange::gain_of(Vertex a, Vertex b) const {
  const auto degree = [&](Vertex v) { return graph_.offsets[at(v) + 1] - graph_.offsets[at(v)]; };
  if (degree(b) < degree(a)) std::swap(a, b);
  Index gain = difference_[at(a)] + difference_[at(b)];
  graph_.for_each_neighbour(a, [&](Vertex u, Index weight) { gain -= u == b ? 2 * weight : 0; });
  return gain;
}

std::pair<Vertex, Vertex> Exchange::best_pair() const {
  std::pair<Vertex, Vertex> best{-1, -1};
  Index most = std::numeric_limits<Index>::min();
  // No later pair has a larger gain than the sum of its differences, which fall.
  for (const auto& [minus_a, a] : free_[0]) {
    if (-minus_a - free_[1].begin()->first <= most) break;
    for (const auto& [minus_b, b] : free_[1]) {
      if (-minus_a - minus_b <= most) break;
      const Index gain = gain_of(a, b);
      if (gain <= most) continue;
      most = gain;
      best = {a, b};
    }
  }
  return best;
}

void Exchange::turn(Vertex v) {
  const int from = side_[at(v)];
  side_[at(v)] = 1 - from;
  weight_[at(from)] -= graph_.weight(v);
  weight_[at(1 - from)] += graph_.weight(v);
  difference_[at(v)] = -difference_[at(v)];
  graph_.for_each_neighbour(v, [&](Vertex u, Index weight) {
    const auto at_its_place = [&] { return std::pair(-difference_[at(u)], u); };
    if (is_free_[at(u)]) free_[at(side_[at(u)])].erase(at_its_place());
    difference_[at(u)] += side_[at(u)] == from ? 2 * weight : -2 * weight;
    if (is_free_[at(u)]) free_[at(side_[at(u)])].insert(at_its_place());
  });
}

std::pair<Index, Index> Exchange::pass() {
  is_free_.assign(side_.size(), true);
  for (std::size_t v = 0; v < side_.size(); ++v) free_[at(side_[v])].emplace(-difference_[v], static_cast<Vertex>(v));
  std::vector<std::pair<Vertex, Vertex>> done;
  const Index excess_before = excess();
  Index gained = 0;
  auto best = std::pair(excess_before, Index{0});  // excess and by how much the cut rises
  std::size_t keep = 0;
  while (!free_[0].empty() && !free_[1].empty()) {
    const auto [a, b] = best_pair();
    gained += gain_of(a, b);
    for (const Vertex v : {a, b}) {
      free_[at(side_[at(v)])].erase({-difference_[at(v)], v});
      is_free_[at(v)] = false;
    }
    for (const Vertex v : {a, b}) turn(v);
    done.emplace_back(a, b);
    if (std::pair(excess(), -gained) >= best) continue;
    best = {excess(), -gained};
    keep = done.size();
  }
  is_free_.assign(side_.size(), false);
  for (auto& some : free_) some.clear();
  for (; done.size() > keep; done.pop_back()) {
    turn(done.back().first);
    turn(done.back().second);
  }
  return {excess_before - best.first, -best.second};
}

void kernighan_lin(const GraphView& graph, const Bounds& bounds, std::span<int> side) {
  Exchange exchange(graph, bounds, side);
  while (exchange.pass() != std::pair(Index{0}, Index{0}));
}

std::vector<int> by_levels(const GraphView& graph, const Bounds& bounds, bool exchanges, std::uint64_t seed) {
  return by_halves(graph, {bounds.parts(), 0, seed}, [&](const GraphView& piece, const Halving& halves) {
    const Index total = piece.total_weight();
    const Bounds own = bounds_of(halves, total, bounds.most_weight.front());
    auto side = sides_by_levels(piece, levels_from(piece, far_out(piece, 0)), own, halves.wanted(total));
    if (exchanges) kernighan_lin(piece, own, side);
    return side;
  });
}

}  // namespace plait::partition
