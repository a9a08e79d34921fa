#include "plait/poisson/parts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
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

constexpr Index outside = -1, beyond = -2;

// Sets that are united, each told by its least member.
class Sets {
 public:
  explicit Sets(Index size) : parent_(at(size)) { std::iota(parent_.begin(), parent_.end(), Index{0}); }
  [[nodiscard]] Index find(Index i) {
    while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
    return i;
  }
  void unite(Index i, Index j) {
    i = find(i);
    j = find(j);
    parent_[at(std::max(i, j))] = std::min(i, j);
  }

 private:
  std::vector<Index> parent_;
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
  const auto for_each_point = [&](const auto& f) {
    Index number = 0;
    layout::for_each_point(own, [&](const Point& point) { f(point, number++); });
  };
  const auto is_inside = [&](Index number) { return inside[at(number)]; };
  mpi::agreed(context, [&] {
    Sets sets(own.points());
    for_each_point([&](const Point& point, Index number) {
      for (std::size_t a = 0; a < layout::axes; ++a) {
        Point below = point;
        if (--below[a] < own.low[a]) continue;
        if (is_inside(number) && is_inside(own.offset_of(below))) sets.unite(number, own.offset_of(below));
      }
    });
    for_each_point([&](const Point& point, Index number) {
      const Index first = sets.find(number), row = own.extent(2), plane = own.extent(1) * row;
      const Point of_first{own.low[0] + first / plane, own.low[1] + first % plane / row, own.low[2] + first % row};
      labels[at(memory.offset_of(point))] = is_inside(number) ? whole.offset_of(of_first) : outside;
    });
  });
  halo::Exchange ghosts(
      context,
      halo::Filling::ghosts(partition, layers, {axes[0].is_periodic(), axes[1].is_periodic(), axes[2].is_periodic()},
                            halo::Reach::faces),
      Index{sizeof(Index)}, 1, "parts");
  ghosts(labels.data());
  // Parts of boxes that are one; a part and itself tell that it is there, and what it is next to that u is given.
  std::set<std::array<Index, 2>> pairs;
  mpi::agreed(context, [&] {
    for_each_point([&](const Point& point, Index number) {
      if (!is_inside(number)) return;
      const Index label = labels[at(memory.offset_of(point))];
      pairs.insert({label, label});
      for (std::size_t a = 0; a < layout::axes; ++a) {
        for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
          Point next = point;
          next[a] += side == 0 ? -1 : 1;
          const Index other = labels[at(memory.offset_of(next))];
          const bool has_value = other == beyond ? axes[a].is_used() && axes[a].sides()[side] == Side::value
                                                 : other == outside && is_given;
          if (has_value) pairs.insert({label, outside});
          if (other >= 0 && other != label) pairs.insert({label, other});
        }
      }
    });
  });
  const auto own_pairs =
      mpi::agreed(context, [&] { return std::vector<std::array<Index, 2>>(pairs.begin(), pairs.end()); });
  const auto all = mpi::gather_on_all(context.comm(), std::span(own_pairs));
  mpi::agreed(context, [&] {
    std::map<Index, Index> numbers;  // of labels, in their order
    for (const auto& [label, other] : all) {
      if (other == label) numbers.emplace(label, 0);
    }
    std::vector<Index> in_order;
    for (auto& [label, number] : numbers) {
      number = std::ssize(in_order);
      in_order.push_back(label);
    }
    Sets sets(std::ssize(in_order));
    for (const auto& [label, other] : all) {
      if (other >= 0) sets.unite(numbers.at(label), numbers.at(other));
    }
    std::vector<bool> has_value(in_order.size());
    for (const auto& [label, other] : all) {
      if (other == outside) has_value[at(sets.find(numbers.at(label)))] = true;
    }
    std::vector<Index> free_number(in_order.size(), -1);
    count_ = 0;
    for (Index i = 0; i < std::ssize(in_order); ++i) {
      if (sets.find(i) != i) continue;
      ++count_;
      if (has_value[at(i)]) continue;
      free_number[at(i)] = std::ssize(free_);
      const Index row = whole.extent(2), plane = whole.extent(1) * row, first = in_order[at(i)];
      free_.push_back({first / plane, first % plane / row, first % row});
    }
    for_each_point([&](const Point& point, Index number) {
      const Index label = labels[at(memory.offset_of(point))];
      of_.push_back(is_inside(number) ? free_number[at(sets.find(numbers.at(label)))] : -1);
    });
  });
}

}  // namespace plait::poisson
