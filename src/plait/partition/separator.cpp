#include "plait/partition/separator.hpp"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

#include "plait/graph/search.hpp"

namespace plait::partition {

using graph::GraphView;
using graph::Vertex;

std::vector<int> separated_by_level(const GraphView& graph, Index most) {
  const auto level = levels_from(graph, far_out(graph, 0));
  std::vector<Index> weight(at(std::ranges::max(level)) + 1);
  for (std::size_t v = 0; v < level.size(); ++v) weight[at(level[v])] += graph.weight(static_cast<Index>(v));
  Vertex best = -1;
  Index before = 0;
  Index after = graph.total_weight();
  for (Vertex l = 0; at(l) < weight.size(); ++l) {
    after -= weight[at(l)];
    if (std::max(before, after) <= most && (best < 0 || weight[at(l)] < weight[at(best)])) best = l;
    before += weight[at(l)];
  }
  std::vector<int> side;
  if (best < 0) return side;
  for (const Vertex l : level) side.push_back(l == best ? 2 : l < best ? 0 : 1);
  return side;
}

Index separator_weight(const GraphView& graph, std::span<const int> side) {
  Index sum = 0;
  for (std::size_t v = 0; v < side.size(); ++v) sum += side[v] == 2 ? graph.weight(static_cast<Index>(v)) : 0;
  return sum;
}

namespace {

class SeparatorSearch {
 public:
  SeparatorSearch(const GraphView& graph, Index most, std::span<int> side)
      : graph_(graph), most_(most), side_(side), is_moved_(side.size()) {
    for (std::size_t v = 0; v < side.size(); ++v) weight_[at(side[v])] += graph.weight(static_cast<Index>(v));
  }

  /// Whether the separator became lighter, or as heavy and the sides more even.
  bool run() {
    heap_ = {};
    done_.clear();
    is_moved_.assign(side_.size(), false);
    order_ = 0;
    for (std::size_t v = 0; v < side_.size(); ++v) {
      if (side_[v] == 2) push(static_cast<Vertex>(v));
    }
    const std::size_t fruitless = 100 + heap_.size() / 4;
    auto best = state();
    std::size_t keep = 0;
    std::size_t since = 0;
    while (!heap_.empty() && since <= fruitless) {
      const Entry entry = heap_.top();
      heap_.pop();
      if (side_[at(entry.v)] != 2 || is_moved_[at(entry.v)]) continue;
      const Index gain = gain_of(entry.v, entry.to);
      if (gain < entry.gain) {
        heap_.push({gain, order_++, entry.v, entry.to});
        continue;
      }
      if (weight_[at(entry.to)] + graph_.weight(entry.v) > most_) continue;
      move(entry.v, entry.to);
      ++since;
      if (state() >= best) continue;
      best = state();
      keep = done_.size();
      since = 0;
    }
    while (done_.size() > keep) {
      change(done_.back().first, done_.back().second);
      done_.pop_back();
    }
    return keep > 0;
  }

 private:
  struct Entry {
    Index gain;
    Index order;
    Vertex v;
    int to;
    bool operator<(const Entry& other) const { return std::pair(gain, order) < std::pair(other.gain, other.order); }
  };

  [[nodiscard]] std::pair<Index, Index> state() const { return {weight_[2], std::max(weight_[0], weight_[1])}; }
  [[nodiscard]] Index gain_of(Vertex v, int to) const {
    Index gain = graph_.weight(v);
    graph_.for_each_neighbour(v, [&](Vertex u, Index) { gain -= side_[at(u)] == 1 - to ? graph_.weight(u) : 0; });
    return gain;
  }
  void push(Vertex v) {
    for (const int to : {0, 1}) heap_.push({gain_of(v, to), order_++, v, to});
  }
  void change(Vertex v, int to) {
    weight_[at(side_[at(v)])] -= graph_.weight(v);
    weight_[at(to)] += graph_.weight(v);
    side_[at(v)] = to;
  }
  void move(Vertex v, int to) {
    change(v, to);
    is_moved_[at(v)] = true;
    done_.emplace_back(v, 2);
    graph_.for_each_neighbour(v, [&](Vertex u, Index) {
      if (side_[at(u)] != 1 - to) return;
      change(u, 2);
      done_.emplace_back(u, 1 - to);
      if (!is_moved_[at(u)]) push(u);
      graph_.for_each_neighbour(u, [&](Vertex w, Index) {
        if (side_[at(w)] == 2 && !is_moved_[at(w)]) heap_.push({gain_of(w, to), order_++, w, to});
      });
    });
  }

  const GraphView& graph_;
  Index most_;
  std::span<int> side_;
  std::array<Index, 3> weight_{};
  std::vector<bool> is_moved_;
  std::priority_queue<Entry> heap_;
  std::vector<std::pair<Vertex, int>> done_;  // and the side before
  Index order_ = 0;
};

}  // namespace

void refine_separator(const GraphView& graph, Index most, std::span<int> side) {
  constexpr int most_rounds = 10;
  SeparatorSearch search(graph, most, side);
  for (int round = 0; round < most_rounds && search.run();) ++round;
}

}  // namespace plait::partition
