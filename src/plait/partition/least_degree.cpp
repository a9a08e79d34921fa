#include "plait/partition/least_degree.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace plait::partition {

using graph::GraphView;
using graph::Vertex;

namespace {

/// The graph after some eliminations. What an eliminated vertex, a pivot, made neighbours is kept as one list, its
/// element. Vertices that have come to have the same neighbours are one from then on, a group.
class Elimination {
 public:
  Elimination(const GraphView& graph, Vertex own)
      : own_(own),
        begin_(graph.offsets),
        lists_(graph.neighbours.begin(), graph.neighbours.end()),
        length_(at(graph.vertices())),
        elements_(length_.size()),
        members_(length_.size()),
        size_(length_.size(), 1),
        degree_(length_.size()),
        next_(length_.size(), -1),
        previous_(length_.size(), -1),
        first_(length_.size() + 1, -1),
        next_in_group_(length_.size(), -1),
        last_in_group_(length_.size()),
        seen_(length_.size()),
        met_(length_.size()),
        width_(length_.size()),
        outside_(length_.size()) {
    const auto n = static_cast<Vertex>(length_.size());
    const double most = std::max(16.0, 10 * std::sqrt(static_cast<double>(n)));
    for (Vertex v = n; v-- > 0;) {
      last_in_group_[at(v)] = v;
      degree_[at(v)] = length_[at(v)] = static_cast<Vertex>(begin_[at(v) + 1] - begin_[at(v)]);
      if (v < own_ && degree_[at(v)] > most) {
        late_.push_back(v);
        is_late_.resize(length_.size());
        is_late_[at(v)] = true;
      }
      if (is_pivot(v)) insert(v);
    }
    std::ranges::stable_sort(late_, {}, [&](Vertex v) { return degree_[at(v)]; });
  }

  std::vector<Vertex> order() {
    std::vector<Vertex> result;
    for (Vertex least = 0; least < static_cast<Vertex>(first_.size());) {
      const Vertex pivot = first_[at(least)];
      if (pivot < 0) {
        ++least;
        continue;
      }
      remove(pivot);
      least = std::min(least, eliminate(pivot));
      for (Vertex v = pivot; v >= 0; v = next_in_group_[at(v)]) result.push_back(v);
    }
    result.insert(result.end(), late_.begin(), late_.end());
    return result;
  }

 private:
  /// The elements that a vertex is in, and then its neighbours beside those in these.
  [[nodiscard]] std::span<Vertex> list(Vertex v) {
    return std::span(lists_).subspan(at(begin_[at(v)]), at(length_[at(v)]));
  }
  [[nodiscard]] std::span<Vertex> elements(Vertex v) { return list(v).first(at(elements_[at(v)])); }
  [[nodiscard]] std::span<Vertex> neighbours(Vertex v) { return list(v).subspan(at(elements_[at(v)])); }

  [[nodiscard]] bool is_pivot(Vertex v) const { return v < own_ && (is_late_.empty() || !is_late_[at(v)]); }

  void insert(Vertex v) {
    Vertex& first = first_[at(degree_[at(v)])];
    next_[at(v)] = first;
    previous_[at(v)] = -1;
    if (first >= 0) previous_[at(first)] = v;
    first = v;
  }
  void remove(Vertex v) {
    const Vertex before = previous_[at(v)];
    const Vertex after = next_[at(v)];
    (before >= 0 ? next_[at(before)] : first_[at(degree_[at(v)])]) = after;
    if (after >= 0) previous_[at(after)] = before;
  }

  /// Makes the element of a pivot; returns the least of the new degrees.
  Vertex eliminate(Vertex pivot) {
    std::vector<Vertex>& element = members_[at(pivot)];
    const Index mark = ++mark_;
    seen_[at(pivot)] = mark;
    const auto add = [&](std::span<const Vertex> vertices) {
      for (const Vertex v : vertices) {
        if (size_[at(v)] > 0 && std::exchange(seen_[at(v)], mark) != mark) element.push_back(v);
      }
    };
    add(neighbours(pivot));
    for (const Vertex e : elements(pivot)) {
      add(members_[at(e)]);
      members_[at(e)] = {};
      seen_[at(e)] = mark;  // as an element: it has been eliminated
    }
    size_[at(pivot)] = 0;
    Vertex width = 0;
    for (const Vertex v : element) width += size_[at(v)];
    find_outside(element, mark);
    hashes_.clear();
    for (const Vertex v : element) {
      // What is left moves up. The pivot or one of its elements goes, so that there is room for the new element.
      const auto old = list(v);
      std::size_t kept = 0;
      Index hash = 0;
      Vertex degree = 0;
      for (const Vertex e : elements(v)) {
        if (seen_[at(e)] == mark || outside_[at(e)] == 0) continue;
        degree += outside_[at(e)];
        hash += e;
        old[kept++] = e;
      }
      const std::size_t place = kept;
      for (const Vertex u : neighbours(v)) {
        if (size_[at(u)] == 0 || seen_[at(u)] == mark) continue;
        degree += size_[at(u)];
        hash += u;
        old[kept++] = u;
      }
      if (is_pivot(v)) remove(v);
      if (is_pivot(v) && degree == 0) {  // has no neighbours but those of the pivot
        width -= size_[at(v)];
        join(pivot, v);
        continue;
      }
      old[kept] = old[place];
      old[place] = pivot;
      elements_[at(v)] = static_cast<Vertex>(place) + 1;
      length_[at(v)] = static_cast<Vertex>(kept) + 1;
      degree_[at(v)] = std::min(degree, degree_[at(v)]);
      hashes_.emplace_back(is_pivot(v) ? hash : -1 - hash, v);
    }
    width_[at(pivot)] = width;
    merge_alike();
    Vertex least = static_cast<Vertex>(first_.size());
    std::erase_if(element, [&](Vertex v) { return size_[at(v)] == 0; });
    for (const Vertex v : element) {
      if (!is_pivot(v)) continue;
      degree_[at(v)] = std::min(degree_[at(v)] + width - size_[at(v)], static_cast<Vertex>(first_.size()) - 1);
      least = std::min(least, degree_[at(v)]);
      insert(v);
    }
    return least;
  }

  /// How many vertices of each element that meets this one are not in it.
  void find_outside(const std::vector<Vertex>& element, Index mark) {
    for (const Vertex v : element) {
      for (const Vertex e : elements(v)) {
        if (std::exchange(met_[at(e)], mark) != mark) outside_[at(e)] = width_[at(e)];
        outside_[at(e)] -= size_[at(v)];
      }
    }
  }

  void join(Vertex group, Vertex v) {
    size_[at(v)] = 0;
    next_in_group_[at(last_in_group_[at(group)])] = v;
    last_in_group_[at(group)] = last_in_group_[at(v)];
  }

  void merge_alike() {
    std::ranges::sort(hashes_);
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      const Vertex v = hashes_[i].second;
      if (size_[at(v)] == 0) continue;
      bool is_marked = false;
      for (std::size_t j = i + 1; j < hashes_.size() && hashes_[j].first == hashes_[i].first; ++j) {
        const Vertex u = hashes_[j].second;
        if (size_[at(u)] == 0 || length_[at(u)] != length_[at(v)] || elements_[at(u)] != elements_[at(v)]) continue;
        if (!std::exchange(is_marked, true)) {
          ++mark_;
          for (const Vertex w : list(v)) seen_[at(w)] = mark_;
        }
        if (!std::ranges::all_of(list(u), [&](Vertex w) { return seen_[at(w)] == mark_; })) continue;
        size_[at(v)] += size_[at(u)];
        join(v, u);
      }
    }
  }

  Vertex own_;
  std::span<const Index> begin_;  // of each vertex' list
  std::vector<Vertex> lists_;
  std::vector<Vertex> length_;                // of each list
  std::vector<Vertex> elements_;              // how many of them there are in each list, by their pivots
  std::vector<std::vector<Vertex>> members_;  // of elements
  std::vector<Vertex> size_;                  // of groups; 0: in another one, or eliminated
  std::vector<Vertex> degree_;
  std::vector<Vertex> next_;  // of the same degree
  std::vector<Vertex> previous_;
  std::vector<Vertex> first_;  // by degree
  std::vector<Vertex> next_in_group_;
  std::vector<Vertex> last_in_group_;
  std::vector<Index> seen_;
  std::vector<Index> met_;
  std::vector<Vertex> width_;    // of an element: how many vertices it has
  std::vector<Vertex> outside_;  // of these, not in the one that is made
  std::vector<Vertex> late_;
  std::vector<bool> is_late_;
  std::vector<std::pair<Index, Vertex>> hashes_;  // of the lists of an element's vertices
  Index mark_ = 0;
};

}  // namespace

std::vector<Vertex> by_least_degree(const GraphView& graph, Vertex own) { return Elimination(graph, own).order(); }

}  // namespace plait::partition
