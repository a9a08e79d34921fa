#include "plait/kmeans/balance.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <limits>
#include <numeric>

#include "plait/base/rounding.hpp"
#include "plait/collective/group_sums.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::kmeans {

namespace {

/// A point of a cluster, by the bits of its squared distance, which are ordered as those are.
struct Member {
  Index squared;
  Index row;
  auto operator<=>(const Member&) const = default;
};

template <class T>
double squared_distance(const T* a, const T* b, Index count) {
  double sum = 0;
  for (Index c = 0; c < count; ++c) sum += (double{a[c]} - double{b[c]}) * (double{a[c]} - double{b[c]});
  return sum;
}

/// For each cluster the least t up to which all ranks have `wanted` members, as count(cluster, t) tells of one; the
/// highest number where there are less. Collective.
template <class F>
std::vector<Index> places_of(mpi::Context& context, std::size_t clusters, Index wanted, const F& count) {
  std::vector<Index> least(clusters), counts(clusters);
  for (Index bit = Index{1} << 62; bit > 0; bit /= 2) {
    for (std::size_t j = 0; j < clusters; ++j) counts[j] = count(j, least[j] + (bit - 1));
    mpi::all_reduce(context.comm(), std::span<Index>(counts), mpi::Operation::sum());
    for (std::size_t j = 0; j < clusters; ++j) least[j] += counts[j] < wanted ? bit : 0;
  }
  return least;
}

}  // namespace

template <class T>
Index nearest_centre(const T* point, RowBlock<const T> centres, std::span<const char> open) {
  Index nearest = -1;
  double least = 0;
  for (Index j = 0; j < centres.rows; ++j) {
    if (!open.empty() && open[at(j)] == 0) continue;
    const double squared = squared_distance(point, centres.data + j * centres.leading_dimension, centres.columns);
    if (nearest >= 0 && !(squared < least)) continue;
    nearest = j;
    least = squared;
  }
  return nearest;
}

template <class T>
Pieces<T> balanced(const Points<T>& points, RowBlock<const T> centres, std::span<const std::int32_t> labels) {
  mpi::Context& context = points.context();
  const RowBlock<const T> own = points.own();
  const auto clusters = at(centres.rows);
  const Index most = quotient_up(points.count(), centres.rows);
  std::vector<std::vector<Member>> members;
  std::vector<char> open;
  std::vector<Index> sizes;
  const auto add = [&](Index i, Index j) {
    const double squared = squared_distance(own.data + i * own.leading_dimension,
                                            centres.data + j * centres.leading_dimension, own.columns);
    members[at(j)].push_back({std::bit_cast<Index>(squared), points.first() + i});
  };
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add("number of centres", centres.rows);
    members.resize(clusters);
    open.assign(clusters, 1);
    sizes.resize(clusters);
    for (Index i = 0; i < own.rows; ++i) add(i, labels[at(i)]);
  });
  while (true) {
    for (std::size_t j = 0; j < clusters; ++j) sizes[j] = std::ssize(members[j]);
    mpi::all_reduce(context.comm(), std::span<Index>(sizes), mpi::Operation::sum());
    if (std::ranges::max(sizes) <= most) break;
    for (std::size_t j = 0; j < clusters; ++j) {
      if (sizes[j] <= most) continue;
      open[j] = 0;
      std::ranges::sort(members[j]);
    }
    const auto up_to = [&](std::size_t j, const Member& last) {
      return sizes[j] <= most ? 0 : std::ranges::upper_bound(members[j], last) - members[j].begin();
    };
    const auto squares = places_of(context, clusters, most, [&](std::size_t j, Index t) {
      return up_to(j, {t, std::numeric_limits<Index>::max()});
    });
    const auto rows =
        places_of(context, clusters, most, [&](std::size_t j, Index t) { return up_to(j, {squares[j], t}); });
    mpi::agreed(context, [&] {
      for (std::size_t j = 0; j < clusters; ++j) {
        if (sizes[j] <= most) continue;
        const auto kept = members[j].begin() + up_to(j, {squares[j], rows[j]});
        for (auto each = kept; each != members[j].end(); ++each) {
          const Index i = each->row - points.first();
          add(i, nearest_centre(own.data + i * own.leading_dimension, centres, open));
        }
        members[j].erase(kept, members[j].end());
      }
    });
  }
  collective::GroupSums sums;
  Pieces<T> pieces;
  mpi::agreed(context, [&] {
    pieces.labels.resize(own.rows);
    for (std::size_t j = 0; j < clusters; ++j) {
      for (const Member& each : members[j]) pieces.labels[each.row - points.first()] = static_cast<std::int32_t>(j);
    }
    sums.begin(points.window(), centres.rows);
    constexpr Index block = 1024;
    std::array<Index, block> rows;
    for (Index begin = 0; begin < own.rows; begin += block) {
      const auto count = at(std::min(block, own.rows - begin));
      std::iota(rows.begin(), rows.end(), begin);
      sums.move(own, std::span(rows).first(count), {},
                std::span<const std::int32_t>(pieces.labels).subspan(at(begin), count));
    }
    pieces.centres.assign(centres.data, centres.data + centres.rows * centres.columns);
  });
  sums.merge(context);
  for (Index j = 0; j < centres.rows; ++j) {
    for (Index c = 0; c < centres.columns && sums.count(j) > 0; ++c) {
      const auto sum = sums.rounded(j, c);
      pieces.centres[at(j * centres.columns + c)] = static_cast<T>(sum / static_cast<double>(sums.count(j)));
    }
  }
  return pieces;
}

#define PLAIT_INSTANTIATE(T)                                                                       \
  template Pieces<T> balanced(const Points<T>&, RowBlock<const T>, std::span<const std::int32_t>); \
  template Index nearest_centre(const T*, RowBlock<const T>, std::span<const char>);
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
#undef PLAIT_INSTANTIATE

}  // namespace plait::kmeans
