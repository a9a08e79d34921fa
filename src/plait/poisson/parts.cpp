#include "plait/poisson/parts.hpp"

#include <array>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/poisson/components.hpp"
#include "plait/poisson/problem.hpp"

namespace plait::poisson {

using layout::Point;

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
      for (std::size_t a = 0; a < layout::axes; ++a) {
        for (const std::size_t side : {0U, 1U}) {
          Point next = point;
          next[a] += side == 0 ? -1 : 1;
          const Index other = components.of(next);
          const bool has_value = other == Components::beyond ? axes[a].is_used() && axes[a].sides()[side] == Side::value
                                                             : other == Components::outside && is_given;
          if (has_value) found.insert({label, Components::outside});
        }
      }
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
