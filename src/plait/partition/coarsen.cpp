#include "plait/partition/coarsen.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plait/base/rounding.hpp"

namespace plait::partition {

using graph::GraphView;
using graph::Vertex;

namespace {

constexpr float hub_degree = 2;  // in mean degrees

/// Each vertex points at the mate that it would like best of those that are left. Two that point at each other are
/// mates, and those that had pointed at one of them point anew. A rank does that for its own vertices, a range,
/// and tells the others where one points at a vertex of theirs, or is taken.
class Matching {
 public:
  Matching(const Ranks& ranks, const GraphView& graph, Index most_weight, std::span<const int> labels)
      : ranks_(ranks),
        graph_(graph),
        most_weight_(most_weight),
        labels_(labels),
        begins_(begins()),
        begin_(begins_[at(ranks.rank())]),
        end_(begins_[at(ranks.rank()) + 1]),
        mate_(at(end_ - begin_), -1),
        lightness_(mate_.size()),
        is_taken_(at(graph.vertices())),
        to_(at(ranks.size())),
        told_(at(ranks.size()), -1) {
    const auto n = static_cast<float>(graph.vertices());
    most_degree_ = hub_degree * static_cast<float>(graph.neighbours.size()) / n;
    mean_weight_ = static_cast<float>(graph.total_weight()) / n;
    for (Vertex i = begin_; i < end_; ++i) lightness_[at(i - begin_)] = computed_lightness(i);
  }

  /// Collective.
  void match() {
    std::vector<News> news;
    for (Index count = 1; count > 0;) {
      ranks_.agreed([&] {
        for (const News& one : news) hear(one);
        settle();
        for (; next_ < end_; ++next_) {
          point(next_);
          settle();
        }
      });
      count = 0;
      for (const auto& to : to_) count += std::ssize(to);
      count = ranks_.reduced(count, mpi::Operation::sum());
      if (count > 0) news = ranks_.exchanged(std::exchange(to_, std::vector<std::vector<News>>(to_.size())));
    }
  }

  /// Pairs those that are alone and have the same heaviest neighbour, whose rank does that, or none, where many are.
  /// Collective.
  void pair_up() {
    Index alone = 0;
    for (Vertex v = begin_; v < end_; ++v) alone += is_taken_[at(v)] ? 0 : 1;
    if (ranks_.reduced(alone, mpi::Operation::sum()) * 4 <= graph_.vertices()) return;
    ranks_.agreed([&] {
      for (Vertex v = begin_; v < end_; ++v) {
        if (is_taken_[at(v)]) continue;
        Vertex place = -1;
        Index heaviest = 0;
        graph_.for_each_neighbour(v, [&](Vertex u, Index weight) {
          if (weight < heaviest || (weight == heaviest && place >= 0 && u > place)) return;
          heaviest = weight;
          place = u;
        });
        to_[place < 0 ? 0 : rank_of(place)].push_back({v, place});
      }
    });
    const auto offers = ranks_.exchanged(std::move(to_));
    auto pairs = ranks_.agreed([&] {
      // The last one that is alone beside each vertex waits there for another one.
      std::vector<std::vector<News>> found(at(ranks_.size()));
      std::vector<Vertex> waiting(mate_.size() + 1, -1);
      for (const auto& [v, place] : offers) {
        Vertex& other = waiting[place < 0 ? mate_.size() : at(place - begin_)];
        if (other < 0 || !fits(v, other)) {
          other = v;
          continue;
        }
        found[rank_of(v)].push_back({v, other});
        found[rank_of(other)].push_back({other, v});
        other = -1;
      }
      return found;
    });
    for (const auto& [v, mate] : ranks_.exchanged(std::move(pairs))) {
      mate_of(v) = mate;
      is_taken_[at(v)] = true;
    }
  }

  /// The numbers of the coarser graph's vertices, in the order of the lower ones of two mates. Collective.
  [[nodiscard]] Merging merged() {
    Vertex own = 0;
    Vector<Vertex> vertex_of = ranks_.agreed([&] {
      Vector<Vertex> numbers(Index{end_ - begin_});
      for (Vertex v = begin_; v < end_; ++v) {
        const Vertex mate = is_taken_[at(v)] ? mate_of(v) : v;
        if (mate >= v) numbers[v - begin_] = own++;
        if (mate < v && mate >= begin_) numbers[v - begin_] = numbers[mate - begin_];
      }
      return numbers;
    });
    const auto first = static_cast<Vertex>(ranks_.sum_below(own));
    to_ = ranks_.agreed([&] {
      std::vector<std::vector<News>> tell(at(ranks_.size()));
      for (Vertex v = begin_; v < end_; ++v) {
        vertex_of[v - begin_] += first;
        if (!is_taken_[at(v)] || mate_of(v) < end_) continue;
        tell[rank_of(mate_of(v))].push_back({mate_of(v), vertex_of[v - begin_]});
      }
      return tell;
    });
    for (const auto& [v, number] : ranks_.exchanged(std::move(to_))) vertex_of[v - begin_] = number;
    const auto vertices = static_cast<Vertex>(ranks_.reduced(own, mpi::Operation::sum()));
    return {{ranks_, std::move(vertex_of)}, vertices, {first, first + own}};
  }

 private:
  struct News {
    Vertex v;
    Vertex mate;  // -1: v is taken; else v points at it
  };

  /// The first vertex of each rank's range, and the end of all; ranges have about as many edges.
  [[nodiscard]] std::vector<Vertex> begins() const {
    const Index n = graph_.vertices();
    const Index all = static_cast<Index>(graph_.neighbours.size()) + n;
    std::vector<Vertex> result{0};
    for (int r = 1; r < ranks_.size(); ++r) {
      Index begin = 0;
      for (Index end = n; begin < end;) {
        const Index middle = begin + (end - begin) / 2;
        if (graph_.offsets[at(middle)] + middle < portion(all, r, ranks_.size())) {
          begin = middle + 1;
        } else {
          end = middle;
        }
      }
      result.push_back(static_cast<Vertex>(begin));
    }
    result.push_back(static_cast<Vertex>(n));
    return result;
  }
  [[nodiscard]] std::size_t rank_of(Vertex v) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(begins_, v) - begins_.begin()) - 1;
  }
  [[nodiscard]] bool is_own(Vertex v) const { return v >= begin_ && v < end_; }
  /// The one that an own vertex points at, and where it is taken its mate.
  [[nodiscard]] Vertex& mate_of(Vertex v) { return mate_[at(v - begin_)]; }
  [[nodiscard]] bool fits(Vertex v, Vertex u) const {
    return graph_.weight(v) <= most_weight_ - graph_.weight(u) && (labels_.empty() || labels_[at(v)] == labels_[at(u)]);
  }
  /// Hubs count as heavy, too: a mate of one has little in common with the next one's.
  [[nodiscard]] float computed_lightness(Vertex v) const {
    const float share = static_cast<float>(graph_.offsets[at(v) + 1] - graph_.offsets[at(v)]) / most_degree_;
    const auto weight = static_cast<float>(graph_.weight(v));
    return 1 / std::max(1.F, share > 1 ? std::max(weight, mean_weight_) * share : weight);
  }
  [[nodiscard]] float lightness(Vertex v) const {
    return is_own(v) ? lightness_[at(v - begin_)] : computed_lightness(v);
  }

  void point(Vertex v) {
    if (is_taken_[at(v)]) return;
    Vertex best = -1;
    float most = 0;
    const float own = lightness(v);
    graph_.for_each_neighbour(v, [&](Vertex u, Index edge) {
      if (is_taken_[at(u)] || !fits(v, u)) return;
      const auto e = static_cast<float>(edge);
      // Weights are 2^62 at most, so that no product leaves the range of a float.
      const float rating = e * e * (own * lightness(u));
      // Among equals the lower number: numbers that follow the shape of a mesh make the coarse one a mesh as well. No
      // ring of vertices can wait for each other, as then the sums of two numbers would fall all around it.
      if (rating < most || (rating == most && (best < 0 || u > best))) return;
      most = rating;
      best = u;
    });
    mate_of(v) = best;
    if (best < 0) return;
    if (is_own(best)) {
      if (mate_of(best) == v) join(v, best);
      return;
    }
    to_[rank_of(best)].push_back({v, best});
    if (const auto other = pointed_.find(best); other != pointed_.end() && other->second == v) join(v, best);
  }
  void hear(const News& news) {
    if (news.mate < 0) {
      take(news.v);
      return;
    }
    pointed_[news.v] = news.mate;
    if (!is_taken_[at(news.mate)] && mate_of(news.mate) == news.v) join(news.v, news.mate);
  }
  void join(Vertex v, Vertex u) {
    take(v);
    take(u);
  }
  void take(Vertex v) {
    if (is_taken_[at(v)]) return;
    is_taken_[at(v)] = true;
    const bool tells = is_own(v);
    graph_.for_each_neighbour(v, [&](Vertex u, Index) {
      if (is_own(u)) {
        if (mate_of(u) == v && !is_taken_[at(u)]) without_.push_back(u);
      } else if (tells && !is_taken_[at(u)] && std::exchange(told_[rank_of(u)], v) != v) {
        to_[rank_of(u)].push_back({v, -1});
      }
    });
  }
  /// Lets those whose first choice was taken point again.
  void settle() {
    while (!without_.empty()) {
      const Vertex v = without_.back();
      without_.pop_back();
      point(v);
    }
  }

  const Ranks& ranks_;
  const GraphView& graph_;
  Index most_weight_;
  std::span<const int> labels_;
  std::vector<Vertex> begins_;
  Vertex begin_;
  Vertex end_;
  Vertex next_ = begin_;  // the first one that has not pointed yet
  float most_degree_ = 0;
  float mean_weight_ = 0;
  std::vector<Vertex> mate_;
  std::vector<float> lightness_;
  std::vector<bool> is_taken_;
  std::vector<Vertex> without_;
  std::unordered_map<Vertex, Vertex> pointed_;  // others' vertices, at own ones
  std::vector<std::vector<News>> to_;           // each rank
  std::vector<Vertex> told_;                    // the last vertex that is taken, of which a rank was told
};

/// Some rows of a coarse graph.
struct Rows {
  Vector<Index> offsets{0};
  Vector<Vertex> neighbours;
  Vector<std::uint16_t> narrow_edge_weights;  // where all fit; else empty
  Vector<Index> wide_edge_weights;
  Vector<Index> vertex_weights;

  void widen() {
    wide_edge_weights.reserve(neighbours.capacity());
    wide_edge_weights.assign(narrow_edge_weights.begin(), narrow_edge_weights.end());
    narrow_edge_weights = {};
  }
};

Rows contracted(const GraphView& graph, const Merging& merging) {
  const auto vertex_of = merging.vertex_of.span();
  const auto [begin, end] = merging.own;
  std::vector<std::array<Vertex, 2>> members(at(end - begin), {-1, -1});
  Index ends = 0;
  for (Vertex v = 0; at(v) < vertex_of.size(); ++v) {
    const Vertex to = vertex_of[at(v)];
    if (to < begin || to >= end) continue;
    members[at(to - begin)][members[at(to - begin)][0] < 0 ? 0 : 1] = v;
    ends += graph.offsets[at(v) + 1] - graph.offsets[at(v)];
  }
  Rows result;
  result.offsets.reserve(members.size() + 1);
  result.vertex_weights.reserve(members.size());
  // More than there will be: memory that is never written is never taken.
  result.neighbours.reserve(at(ends));
  result.narrow_edge_weights.reserve(at(ends));
  const bool has_edge_weights = merging.vertices < graph.vertices() || !graph.edge_weights.empty();
  const bool has_vertex_weights = merging.vertices < graph.vertices() || !graph.vertex_weights.empty();
  bool is_narrow = true;
  std::vector<Vertex> row;
  std::vector<Index> weights;
  std::vector<std::uint32_t> place(at(merging.vertices));  // in the row; of a vertex that is not there yet, anything
  constexpr Index most_narrow = std::numeric_limits<std::uint16_t>::max();
  for (Vertex own = begin; own < end; ++own) {
    row.clear();
    weights.clear();
    Index weight = 0;
    for (const Vertex v : members[at(own - begin)]) {
      if (v < 0) break;
      weight += graph.weight(v);
      graph.for_each_neighbour(v, [&](Vertex u, Index edge) {
        const Vertex to = vertex_of[at(u)];
        if (to == own) return;
        if (const std::size_t known = place[at(to)]; known < row.size() && row[known] == to) {
          weights[known] += edge;
          return;
        }
        place[at(to)] = static_cast<std::uint32_t>(row.size());
        row.push_back(to);
        weights.push_back(edge);
      });
    }
    if (is_narrow && !weights.empty() && std::ranges::max(weights) > most_narrow) {
      is_narrow = false;
      result.widen();
    }
    result.neighbours.insert(result.neighbours.end(), row.begin(), row.end());
    if (has_edge_weights && is_narrow) {
      for (const Index one : weights) result.narrow_edge_weights.push_back(static_cast<std::uint16_t>(one));
    } else if (has_edge_weights) {
      result.wide_edge_weights.insert(result.wide_edge_weights.end(), weights.begin(), weights.end());
    }
    if (has_vertex_weights) result.vertex_weights.push_back(weight);
    result.offsets.push_back(result.neighbours.count());
  }
  return result;
}

}  // namespace

Merging merged_mates(const Ranks& ranks, const GraphView& graph, Index most_weight, std::span<const int> labels) {
  auto matching = ranks.agreed([&] { return std::make_unique<Matching>(ranks, graph, most_weight, labels); });
  matching->match();
  matching->pair_up();
  return matching->merged();
}

Coarse::Coarse(const Ranks& ranks, const GraphView& graph, const Merging& merging) {
  Rows rows = ranks.agreed([&] { return contracted(graph, merging); });
  const bool is_wide = ranks.reduced(std::ssize(rows.wide_edge_weights), mpi::Operation::maximum()) > 0;
  const Index below = ranks.sum_below(rows.neighbours.count());
  ranks.agreed([&] {
    if (is_wide && rows.wide_edge_weights.empty()) rows.widen();
    for (Index& offset : rows.offsets) offset += below;
    if (ranks.rank() + 1 < ranks.size()) rows.offsets.pop_back();  // begins the next rank's
  });
  neighbours_ = {ranks, std::move(rows.neighbours)};
  if (is_wide) {
    wide_edge_weights_ = {ranks, std::move(rows.wide_edge_weights)};
  } else {
    narrow_edge_weights_ = {ranks, std::move(rows.narrow_edge_weights)};
  }
  offsets_ = {ranks, std::move(rows.offsets)};
  vertex_weights_ = {ranks, std::move(rows.vertex_weights)};
}

GraphView Coarse::view() const noexcept {
  GraphView result{offsets_.span(), neighbours_.span(), {}, vertex_weights_.span(), {}};
  if (wide_edge_weights_.span().empty()) {
    result.edge_weights = narrow_edge_weights_.span();
  } else {
    result.edge_weights = wide_edge_weights_.span();
  }
  return result;
}

}  // namespace plait::partition
