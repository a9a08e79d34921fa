#include "plait/poisson/parts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "plait/halo/exchange.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/poisson/problem.hpp"

namespace plait::poisson {

namespace {

using layout::Point;

// Of points in place of the number of their part.
constexpr Index outside = -1, beyond = -2, unknown = -3;

// Sets of numbers that are united, each told by its least one.
class Sets {
 public:
  [[nodiscard]] Index find(Index i) {
    parents_.emplace(i, i);
    while (parents_.at(i) != i) i = parents_.at(i) = parents_.at(parents_.at(i));
    return i;
  }
  void unite(Index i, Index j) {
    i = find(i);
    j = find(j);
    parents_[std::max(i, j)] = std::min(i, j);
  }
  /// Of each number, one nearer to the least one of its set, or the number itself.
  [[nodiscard]] const std::map<Index, Index>& parents() const noexcept { return parents_; }

 private:
  std::map<Index, Index> parents_;
};

}  // namespace

Parts::Parts(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition,
             const std::vector<bool>& inside, bool is_given) {
  const layout::Box own = partition.box(context.rank()), whole = partition.whole();
  if (mpi::all_reduce(context.comm(), inside.empty() ? Index{0} : Index{1}, mpi::Operation::maximum()) == 0) {
    all_free_ = is_singular(axes);
    if (all_free_) free_.push_back({});
    return;
  }
  // The parts of this rank's box, each with the number of its first point in the whole one.
  constexpr Point layers{1, 1, 1};
  const layout::Box memory = own.grown(layers);
  std::vector<Index> labels = mpi::agreed(context, [&] { return std::vector<Index>(at(memory.points()), beyond); });
  const Point strides{memory.extent(1) * memory.extent(2), memory.extent(2), 1};
  const auto for_each_point = [&](const auto& f) {
    layout::for_each_point(own, [&](const Point& point) { f(memory.offset_of(point), point); });
  };
  // Calls f(label next to a place, axis, side).
  const auto for_each_next = [&](Index place, const auto& f) {
    for (std::size_t a = 0; a < layout::axes; ++a) {
      f(labels[at(place - strides[a])], a, 0);
      f(labels[at(place + strides[a])], a, 1);
    }
  };
  mpi::agreed(context, [&] {
    auto is_inside = inside.begin();
    for_each_point([&](Index place, const Point&) { labels[at(place)] = *is_inside++ ? unknown : outside; });
    std::vector<Index> reached;
    for_each_point([&](Index first, const Point& point) {
      const auto reach = [&](Index& label) {
        if (label != unknown) return;
        label = whole.offset_of(point);
        reached.push_back(&label - labels.data());
      };
      reach(labels[at(first)]);
      while (!reached.empty()) {
        const Index place = reached.back();
        reached.pop_back();
        for_each_next(place, [&](Index& label, std::size_t, std::size_t) { reach(label); });
      }
    });
  });
  halo::Exchange ghosts(context, halo::Filling::ghosts(partition, layers, periodic(axes), halo::Reach::faces),
                        Index{sizeof(Index)}, 1, "parts");
  ghosts(labels.data());
  // Parts of boxes that are one; a part and itself tell that it is there, and what it is next to that u is given.
  const auto pairs = mpi::agreed(context, [&] {
    std::set<std::array<Index, 2>> found;
    for_each_point([&](Index place, const Point&) {
      const Index label = labels[at(place)];
      if (label < 0) return;
      found.insert({label, label});
      for_each_next(place, [&](Index other, std::size_t a, std::size_t side) {
        const bool has_value =
            other == beyond ? axes[a].is_used() && axes[a].sides()[side] == Side::value : other == outside && is_given;
        if (has_value) found.insert({label, outside});
        if (other >= 0 && other != label) found.insert({label, other});
      });
    });
    return std::vector(found.begin(), found.end());
  });
  const auto all = mpi::gather_on_all(context.comm(), std::span(pairs));
  mpi::agreed(context, [&] {
    Sets sets;
    for (const auto& [label, other] : all) sets.unite(label, other >= 0 ? other : label);
    std::map<Index, Index> numbers;  // of free parts; -1 where u is given
    for (const auto& [label, other] : all) {
      if (other == outside) numbers[sets.find(label)] = -1;
    }
    count_ = 0;
    for (const auto& [label, parent] : sets.parents()) {
      if (parent != label) continue;
      ++count_;
      if (numbers.emplace(label, std::ssize(free_)).second) free_.push_back(whole.point_at(label));
    }
    for_each_point([&](Index place, const Point&) {
      const Index label = labels[at(place)];
      of_.push_back(label >= 0 ? numbers.at(sets.find(label)) : -1);
    });
  });
}

}  // namespace plait::poisson
