#include "plait/poisson/components.hpp"

#include <array>
#include <set>
#include <span>
#include <vector>

#include "plait/graph/sets.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

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
      for (std::size_t a = 0; a < layout::axes; ++a) {
        for (const Index side : {0, 1}) {
          Point next = point, above = point;
          next[a] += 2 * side - 1;
          above[a] += side;
          const Index other = of(next);
          if (other >= 0 && other != label && joins(a, above)) found.insert({label, other});
        }
      }
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

}  // namespace plait::poisson
