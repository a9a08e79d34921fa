#include "plait/kmeans/start.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/base/vector.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"
#include "plait/simd/nearest/nearest_kernels.hpp"

namespace plait::kmeans {

namespace {

/// The squared distance of each of a rank's points to the nearest of the centres so far.
template <class T>
class Distances {
 public:
  explicit Distances(const Points<T>& points)
      : points_(points), squared_(points.own().rows, std::numeric_limits<T>::infinity()) {}

  void look_at(const std::vector<T>& centre) {
    const RowBlock<const T> centres{centre.data(), 1, points_.dimension(), points_.dimension()};
    const auto kernels = simd::nearest_kernels<T>();
    constexpr Index block = 256;
    std::array<Index, block> rows;
    std::array<T, block> d;
    const std::array<std::int32_t, block> first{};
    for (Index begin = 0; begin < squared_.count(); begin += block) {
      const Index count = std::min(block, squared_.count() - begin);
      for (Index i = 0; i < count; ++i) rows[at(i)] = begin + i;
      kernels.own(points_.own(), rows.data(), count, centres, first.data(), d.data());
      for (Index i = 0; i < count; ++i) squared_[begin + i] = std::min(squared_[begin + i], d[at(i)]);
    }
  }

  /// The first row, of those of all ranks, up to which the exact sum of squared distances is more than `share` of that
  /// of all; -1 where all are 0. Collective.
  [[nodiscard]] Index row_at(double share) const {
    simd::ExactSum own;
    simd::add_to(own, std::span<const T>(squared_));
    simd::ExactSum all = own;
    collective::merge(points_.context(), std::span(&all, 1));
    const auto total = all.rounded<double>();
    if (total == 0) return -1;
    const double target = std::min(share * total, std::nextafter(total, 0.0));  // less than the exact sum
    // Whether the target is in this rank's part is as all know the parts.
    const auto states = mpi::all_gather(points_.context().comm(), own.state());
    simd::ExactSum up_to;
    up_to.add(-target);
    int rank = 0;
    for (; rank + 1 < points_.context().size(); ++rank) {
      simd::ExactSum next = up_to;
      next.merge(of(states[at(rank)]));
      if (next.rounded<double>() > 0) break;
      up_to = next;
    }
    Index row = 0;
    if (rank == points_.context().rank()) row = points_.first() + place_at(up_to);
    return mpi::all_reduce(points_.context().comm(), row, mpi::Operation::maximum());
  }

 private:
  [[nodiscard]] static simd::ExactSum of(const simd::ExactSum::State& state) {
    simd::ExactSum sum;
    sum.set_state(state);
    return sum;
  }

  /// The first place up to which `sum` and all squared distances are above 0.
  [[nodiscard]] Index place_at(simd::ExactSum sum) const {
    constexpr Index block = 1024;
    Index begin = 0;
    for (; begin < squared_.count(); begin += block) {
      simd::ExactSum next = sum;
      simd::add_to(next,
                   std::span<const T>(squared_).subspan(at(begin), at(std::min(block, squared_.count() - begin))));
      if (next.rounded<double>() > 0) break;
      sum = next;
    }
    for (Index i = begin; i < squared_.count(); ++i) {
      sum.add(double{squared_[i]});
      if (sum.rounded<double>() > 0) return i;
    }
    PLAIT_ASSERT(false, "the target is less than the sum of all");
    return 0;
  }

  const Points<T>& points_;
  Vector<T> squared_;
};

}  // namespace

void expect_clusters(Index clusters, Index points) {
  constexpr Index most = (Index{1} << 24) - 1;
  if (clusters >= 1 && clusters <= std::min(points, most)) return;
  throw ArgumentError(fmt::format("the number of clusters is {}, expected from 1 to {}{}", clusters,
                                  std::min(points, most), points <= most ? ", the number of points" : ""));
}

template <class T>
std::vector<T> spread_centres(const Points<T>& points, Index clusters, std::uint64_t seed) {
  mpi::Context& context = points.context();
  Vector<T> centres;
  auto distances = mpi::agreed(context, [&](mpi::Alike& alike) {
    alike.add("number of clusters", clusters);
    alike.add("seed", seed);
    expect_clusters(clusters, points.count());
    centres.reserve(at(clusters * points.dimension()));
    return Distances<T>(points);
  });
  auto row = static_cast<Index>(random_uniform(seed, 0) * static_cast<double>(points.count()));
  for (Index j = 0; true;) {
    const std::vector<T> centre = points.rows({{row}});
    centres.insert(centres.end(), centre.begin(), centre.end());
    if (++j == clusters) return centres;
    distances.look_at(centre);
    row = distances.row_at(random_uniform(seed, static_cast<std::uint64_t>(j)));
    if (row < 0) {
      throw ArgumentError(
          fmt::format("the number of clusters is {}, expected at most {}, the number of distinct points", clusters, j));
    }
  }
}

template <class T>
std::vector<T> random_centres(const Points<T>& points, Index clusters, std::uint64_t seed) {
  mpi::agreed(points.context(), [&](mpi::Alike& alike) {
    alike.add("number of clusters", clusters);
    alike.add("seed", seed);
    expect_clusters(clusters, points.count());
  });
  // Floyd's way to draw so many of all without a second draw: the same on all ranks.
  const auto rows = mpi::agreed(points.context(), [&] {
    std::vector<Index> drawn;
    std::unordered_set<Index> taken;
    for (Index j = points.count() - clusters; j < points.count(); ++j) {
      const auto row =
          static_cast<Index>(random_bits(seed, static_cast<std::uint64_t>(j)) % static_cast<std::uint64_t>(j + 1));
      drawn.push_back(taken.insert(row).second ? row : j);
      taken.insert(drawn.back());
    }
    return drawn;
  });
  return points.rows(rows);
}

template <class T>
Index clusters_of(const Points<T>& points, const std::vector<T>& start, const iterate::Limits& limits) {
  const auto count = static_cast<Index>(start.size());
  return mpi::agreed(points.context(), [&](mpi::Alike& arguments) {
    arguments.add("number of coordinates of centres", count);
    iterate::name_arguments(limits, arguments);
    iterate::expect_valid(limits);
    if (count % points.dimension() != 0) {
      throw ArgumentError(fmt::format("the centres have {} coordinates in all, expected a multiple of the points' {}",
                                      count, points.dimension()));
    }
    expect_clusters(count / points.dimension(), points.count());
    for (Index i = 0; i < count; ++i) {
      const double most = 2 / points.scale();  // the points' largest coordinate is less
      const auto x = double{start[at(i)]};
      if (std::abs(x) <= std::max(most, double{1}) * 0x1p10) continue;
      throw ArgumentError(
          fmt::format("the centres have {} in row {}, column {} (counted from 0), expected finite "
                      "numbers in the range of the data",
                      x, i / points.dimension(), i % points.dimension()));
    }
    return count / points.dimension();
  });
}

template Index clusters_of(const Points<float>&, const std::vector<float>&, const iterate::Limits&);
template Index clusters_of(const Points<double>&, const std::vector<double>&, const iterate::Limits&);
template std::vector<float> spread_centres(const Points<float>&, Index, std::uint64_t);
template std::vector<double> spread_centres(const Points<double>&, Index, std::uint64_t);
template std::vector<float> random_centres(const Points<float>&, Index, std::uint64_t);
template std::vector<double> random_centres(const Points<double>&, Index, std::uint64_t);

}  // namespace plait::kmeans
