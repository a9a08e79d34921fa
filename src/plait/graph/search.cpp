#include "plait/graph/search.hpp"

#include <utility>

namespace plait::graph {

std::vector<Vertex> search(const GraphView& graph, Vertex root, Vertex first, std::span<Vertex> level,
                           std::size_t enough) {
  std::vector<Vertex> queue{root};
  level[at(root)] = first;
  for (std::size_t next = 0; next < queue.size() && queue.size() < enough; ++next) {
    const Vertex below = level[at(queue[next])] + 1;
    graph.for_each_neighbour(queue[next], [&](Vertex u, Index) {
      if (level[at(u)] >= 0) return;
      level[at(u)] = below;
      queue.push_back(u);
    });
  }
  return queue;
}

namespace {

/// As far_out. \param level  is -1 in the component before and after
Vertex far_out(const GraphView& graph, Vertex in, std::span<Vertex> level) {
  for (Vertex most = -1;;) {
    const auto order = search(graph, in, 0, level);
    const Vertex last = level[at(order.back())];
    Vertex next = order.back();
    for (auto v = order.rbegin(); v != order.rend() && level[at(*v)] == last; ++v) {
      const auto degree = [&](Vertex u) { return graph.offsets[at(u) + 1] - graph.offsets[at(u)]; };
      if (degree(*v) <= degree(next)) next = *v;
    }
    for (const Vertex v : order) level[at(v)] = -1;
    if (last <= most) return in;
    most = last;
    in = next;
  }
}

}  // namespace

std::vector<Vertex> levels_from(const GraphView& graph, Vertex root) {
  std::vector<Vertex> level(at(graph.vertices()), -1);
  Vertex first = 0;
  for (Vertex next = 0; next < static_cast<Vertex>(graph.vertices());) {
    first = level[at(search(graph, root, first, level).back())] + 1;
    while (next < static_cast<Vertex>(graph.vertices()) && level[at(next)] >= 0) ++next;
    if (next < static_cast<Vertex>(graph.vertices())) root = far_out(graph, next, level);
  }
  return level;
}

Vertex far_out(const GraphView& graph, Vertex in) {
  std::vector<Vertex> level(at(graph.vertices()), -1);
  return far_out(graph, in, level);
}

std::vector<Vertex> least_separator(const GraphView& graph, std::span<const int> side) {
  const auto n = static_cast<Vertex>(graph.vertices());
  std::vector<Vertex> mate(at(n), -1);
  std::vector<Vertex> reached_from(at(n), -1);  // of side 1: by a path that begins at one of side 0 without a mate
  std::vector<Vertex> queue;
  std::vector<Vertex> reached;
  // A search that finds nobody without a mate leaves what it reached marked: no later one could get on from there.
  const auto augment = [&](Vertex root) {
    queue.assign(1, root);
    reached.clear();
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const Vertex v = queue[next];
      for (Index e = graph.offsets[at(v)]; e < graph.offsets[at(v) + 1]; ++e) {
        Vertex u = graph.neighbours[at(e)];
        if (side[at(u)] != 1 || reached_from[at(u)] >= 0) continue;
        reached_from[at(u)] = v;
        reached.push_back(u);
        if (mate[at(u)] >= 0) {
          queue.push_back(mate[at(u)]);
          continue;
        }
        while (u >= 0) {
          const Vertex from = reached_from[at(u)];
          mate[at(u)] = from;
          u = std::exchange(mate[at(from)], u);
        }
        for (const Vertex w : reached) reached_from[at(w)] = -1;
        return;
      }
    }
  };
  for (Vertex v = 0; v < n; ++v) {
    if (side[at(v)] == 0) augment(v);
  }
  // Of each mated pair the end on side 1 where it was reached, else the other one.
  std::vector<Vertex> separator;
  for (Vertex v = 0; v < n; ++v) {
    if (mate[at(v)] < 0) continue;
    const Vertex far = side[at(v)] == 1 ? v : mate[at(v)];
    if ((reached_from[at(far)] >= 0) == (far == v)) separator.push_back(v);
  }
  return separator;
}

}  // namespace plait::graph
