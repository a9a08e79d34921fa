#include "plait/partition/bisection.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "plait/base/parallel.hpp"
#include "plait/base/random.hpp"

namespace plait::partition {

using graph::Graph;
using graph::GraphView;
using graph::Vertex;

std::vector<int> by_halves(const GraphView& graph, const Halving& all, const Bisect& bisect, const Team& team) {
  std::vector<int> part(at(graph.vertices()));
  if (all.parts <= 1 || graph.vertices() < all.parts) {
    if (team.member == 0) std::ranges::fill(part, all.first);
    return part;
  }
  const auto side = bisect(graph, all);
  std::array<std::vector<Vertex>, 2> halves;
  for (std::size_t v = 0; v < side.size(); ++v) halves[at(side[v])].push_back(static_cast<Vertex>(v));
  Thrown thrown;
  const auto cut = [&](int which) {
    const auto& vertices = halves[at(which)];
    const int before = team.size == 1 || which == 0 ? 0 : team.size / 2;
    const Team own_team{team.member - before, team.size == 1 ? 1 : which == 0 ? team.size / 2 : team.size - before};
    if (own_team.member < 0 || own_team.member >= own_team.size) return;
    const Halving own{which == 0 ? all.few() : all.many(), which == 0 ? all.first : all.first + all.few(),
                      random_bits(all.seed, static_cast<std::uint64_t>(2 + which))};
    std::vector<Vertex> number(part.size());
    const auto own_part = by_halves(subgraph(graph, vertices, number).view(), own, bisect, own_team);
    for (std::size_t i = 0; i < vertices.size(); ++i) part[at(vertices[i])] = own_part[i];
  };
#pragma omp task default(shared) if (omp_get_num_threads() > 1)
  thrown.caught([&] { cut(0); });
  thrown.caught([&] { cut(1); });
#pragma omp taskwait
  thrown.rethrow();
  return part;
}

Bounds bounds_of(const Halving& halves, Index total, Index most_weight) {
  const double depth = std::ceil(std::log2(static_cast<double>(halves.parts)));
  const double left = static_cast<double>(most_weight) * halves.parts / std::max(1.0, static_cast<double>(total));
  const double own = std::max(0.0, std::pow(std::max(1.0, left), 1 / depth) - 1);
  Bounds bounds;
  for (const int half : {halves.few(), halves.many()}) {
    const Index even = portion(total, half, halves.parts);
    const double most = static_cast<double>(even) * (1 + own);
    const Index fits = most_weight > graph::most_weight / half ? graph::most_weight : most_weight * half;
    bounds.most_weight.push_back(
        std::max(even + 1, std::min(fits, most < 0x1p62 ? static_cast<Index>(most) : graph::most_weight)));
    bounds.least_vertices.push_back(half);
  }
  return bounds;
}

std::size_t median(const GraphView& graph, const Line& line, Index wanted, std::pair<Index, Index> least) {
  const std::size_t last = line.size() - at(least.second);
  std::size_t place = 0;
  Index before = 0;
  for (; place < last; ++place) {
    const Index weight = graph.weight(line[place].second);
    if (place >= at(least.first) && before + weight - wanted > wanted - before) break;
    before += weight;
  }
  return place;
}

std::vector<int> sides_of(const Line& line, std::size_t place) {
  std::vector<int> side(line.size(), 1);
  for (std::size_t i = 0; i < place; ++i) side[at(line[i].second)] = 0;
  return side;
}

}  // namespace plait::partition
