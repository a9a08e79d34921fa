#include "plait/poisson/parts.hpp"

#include <array>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "plait/graph/sets.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/poisson/problem.hpp"

namespace plait::poisson {

using layout::Point;

Components::Components(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition,
                       const std::vector<bool>& inside, const std::function<bool(std::size_t, const Point&)>& joins)
    : own_(partition.box(context.rank())), memory_(own_.grown({1, 1, 1})) {
  const Point strides{memory_.extent(1) * memory_.extent(2), memory_.extent(2), 1};
  mpi::agreed(context, [&] {
    labels_.assign(at(memory_.points()), beyond);
    graph::Sets sets(labels_.size());
    auto is_inside = inside.begin();
    layout::for_each_point(own_, [&](const Point& point) {
      const Index place = memory_.offset_of(point);
      if (!inside.empty() && !*is_inside++) {
        labels_[at(place)] = outside;
        return;
      }
      labels_[at(place)] = partition.whole().offset_of(point);
      for (std::size_t a = 0; a < layout::axes; ++a) {
        const std::size_t below = at(place - strides[a]);
        if (labels_[below] >= 0 && joins(a, point)) sets.unite(at(place), below);
      }
    });
    for (std::size_t place = 0; place < labels_.size(); ++place) {  // the first one of a set comes first
      if (labels_[place] >= 0) labels_[place] = labels_[sets.root(place)];
    }
  });
  halo::Exchange ghosts(context, halo::Filling::ghosts(partition, {1, 1, 1}, periodic(axes), halo::Reach::faces),
                        Index{sizeof(Index)}, 1, "components");
  ghosts(labels_.data());
  const auto pairs = mpi::agreed(context, [&] {
    std::set<std::array<Index, 2>> found;
    for_each_point([&](const Point& point, Index label) {
      for_each_next(point, [&](std::size_t a, std::size_t, const Point& next, const Point& face) {
        const Index other = of(next);
        if (other >= 0 && other != label && joins(a, face)) found.insert({label, other});
      });
    });
    return std::vector(found.begin(), found.end());
  });
  const auto all = mpi::gather_on_all(context.comm(), std::span(pairs));
  mpi::agreed(context, [&] {
    const graph::JoinedLabels joined(all);
    shared_ = joined.leasts();
    if (all.empty()) return;
    for (Index& label : labels_) label = joined.least(label);
  });
}

Parts::Parts(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition,
             const std::vector<bool>& inside, bool is_given) {
  if (mpi::all_reduce(context.comm(), inside.empty() ? Index{0} : Index{1}, mpi::Operation::maximum()) == 0) {
    all_free_ = is_singular(axes);
    if (all_free_) free_.push_back({});
    return;
  }
  const Components components(context, axes, partition, inside, [](std::size_t, const Point&) { return true; });
  // Each with itself, and with what it is next to that u is given.
  const auto pairs = mpi::agreed(context, [&] {
    std::set<std::array<Index, 2>> found;
    components.for_each_point([&](const Point& point, Index label) {
      found.insert({label, label});
      for_each_next(point, [&](std::size_t a, std::size_t side, const Point& next, const Point&) {
        const Index other = components.of(next);
        const bool has_value = other == Components::beyond ? axes[a].is_used() && axes[a].sides()[side] == Side::value
                                                           : other == Components::outside && is_given;
        if (has_value) found.insert({label, Components::outside});
      });
    });
    return std::vector(found.begin(), found.end());
  });
  const auto all = mpi::gather_on_all(context.comm(), std::span(pairs));
  mpi::agreed(context, [&] {
    std::map<Index, Index> numbers;  // of free parts; -1 where u is given
    for (const auto& [label, other] : all) {
      Index& number = numbers[label];
      if (other < 0) number = -1;
    }
    count_ = std::ssize(numbers);
    for (auto& [label, number] : numbers) {
      if (number < 0) continue;
      number = std::ssize(free_);
      free_.push_back(partition.whole().point_at(label));
    }
    layout::for_each_point(partition.box(context.rank()), [&](const Point& point) {
      const Index label = components.of(point);
      of_.push_back(label >= 0 ? numbers.at(label) : -1);
    });
  });
}

}  // namespace plait::poisson
