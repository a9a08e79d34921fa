#include "plait/graph/contraction.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "plait/base/parallel.hpp"

namespace plait::graph {

namespace {

using Members = std::array<Vertex, 2>;  // of a coarse vertex; -1: none

/// Some vertices of a coarse graph that follow each other.
class Rows {
 public:
  Rows(const GraphView& graph, std::span<const Vertex> vertex_of, std::span<const Members> members)
      : graph_(graph), vertex_of_(vertex_of), members_(members), place_(members.size()) {}

  void compute(Index begin, Index end) {
    ends_.clear();
    neighbours_.clear();
    edge_weights_.clear();
    vertex_weights_.clear();
    for (Index v = begin; v < end; ++v) {
      for (const std::size_t which : {0UL, 1UL}) {
        graph_.fetch_row(std::max(Vertex{0}, members_[at(std::min(v + 12, end - 1))][which]),
                         std::max(Vertex{0}, members_[at(std::min(v + 6, end - 1))][which]));
      }
      add(static_cast<Vertex>(v));
    }
  }

  void append_to(Coarse& coarse) const {
    const Index before = coarse.neighbours.count();
    for (const std::size_t end : ends_) coarse.offsets.push_back(before + static_cast<Index>(end));
    coarse.neighbours.insert(coarse.neighbours.end(), neighbours_.begin(), neighbours_.end());
    coarse.edge_weights.append(edge_weights_);
    coarse.vertex_weights.append(vertex_weights_);
  }

 private:
  void add(Vertex own) {
    const std::size_t begin = neighbours_.size();
    Index weight = 0;
    for (const Vertex v : members_[at(own)]) {
      if (v < 0) break;
      weight += graph_.weight(v);
      graph_.for_each_neighbour(v, [&](Vertex u, Index edge) {
        const Vertex to = vertex_of_[at(u)];
        if (to == own) return;
        const std::size_t known = begin + place_[at(to)];
        if (known < neighbours_.size() && neighbours_[known] == to) {
          edge_weights_[known] += edge;
          return;
        }
        place_[at(to)] = static_cast<std::uint32_t>(neighbours_.size() - begin);
        neighbours_.push_back(to);
        edge_weights_.push_back(edge);
      });
    }
    vertex_weights_.push_back(weight);
    ends_.push_back(neighbours_.size());
  }

  const GraphView& graph_;
  std::span<const Vertex> vertex_of_;
  std::span<const Members> members_;
  std::vector<std::size_t> ends_;
  std::vector<Vertex> neighbours_;
  std::vector<Index> edge_weights_;
  std::vector<Index> vertex_weights_;
  std::vector<std::uint32_t> place_;  // in the row; of a vertex that is not there yet, anything
};

}  // namespace

Coarse contracted(const GraphView& graph, std::span<const Vertex> vertex_of, Vertex vertices) {
  constexpr Index stretch = 1 << 13;
  constexpr int most_threads = 4;  // as the places of each are as many as vertices
  std::vector<Members> members(at(vertices), {-1, -1});
  for (Vertex v = 0; at(v) < vertex_of.size(); ++v) {
    auto& own = members[at(vertex_of[at(v)])];
    own[own[0] < 0 ? 0 : 1] = v;
  }
  Coarse result;
  result.offsets.reserve(at(vertices) + 1);
  result.vertex_weights.reserve(at(vertices));
  // More than there will be: memory that is never written is never taken.
  result.neighbours.reserve(graph.neighbours.size());
  result.edge_weights.reserve(graph.neighbours.size());
  const int threads = std::min(threads_of(vertices), most_threads);
  std::vector<Rows> rows;
  for (int thread = 0; thread < threads; ++thread) rows.emplace_back(graph, vertex_of, members);
  Thrown thrown;
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads) if (threads > 1)
  for (Index begin = 0; begin < vertices; begin += stretch) {
    Rows& own = rows[at(omp_get_thread_num())];
    thrown.caught([&] { own.compute(begin, std::min<Index>(begin + stretch, vertices)); });
#pragma omp ordered
    thrown.caught([&] { own.append_to(result); });
  }
  thrown.rethrow();
  return result;
}

}  // namespace plait::graph
