#include "plait/kmeans/start.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_set>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/base/vector.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"
#include "plait/simd/nearest/nearest_kernels.hpp"

namespace plait::kmeans {

namespace {

/// The squared distance of each of a rank's points to the nearest of the centres so far, and their exact sum.
template <class T>
class Distances {
 public:
  /// \param candidates  of a centre, at most
  Distances(const Points<T>& points, std::size_t candidates)
      : points_(points),
        squared_(points.own().rows, std::numeric_limits<T>::infinity()),
        panel_(at(simd::nearest_points * points.dimension())),
        nearer_(candidates * at(block)),
        sums_(candidates * at(blocks())) {}

  /// Takes that one of some centres, one after the other, with which the sum over all ranks is least; the first of
  /// several. Collective.
  /// \returns which
  std::size_t take_best(const std::vector<T>& centres) {
    const auto count = static_cast<std::size_t>(points_.dimension());
    own_.assign(centres.size() / count, {});
    for (Index b = 0; b < blocks(); ++b) {
      for_each_panel(b, [&](Index begin, Index rows) {
        take_last(begin, rows);
        for (std::size_t j = 0; j < own_.size(); ++j) {
          look_at(centres.data() + j * count, begin, rows, nearer_.data() + j * at(block) + begin % block);
        }
      });
      for (std::size_t j = 0; j < own_.size(); ++j) {
        simd::ExactSum& sum = sums_[j * at(blocks()) + at(b)];
        sum = {};
        simd::add_to(sum, std::span<const T>(nearer_).subspan(j * at(block), at(rows_of(b))));
        own_[j].merge(sum);
      }
    }
    std::vector<simd::ExactSum> all = own_;
    collective::merge(points_.context(), std::span(all));
    std::vector<double> rounded;
    for (const simd::ExactSum& sum : all) rounded.push_back(sum.rounded<double>());
    best_ = static_cast<std::size_t>(std::ranges::min_element(rounded) - rounded.begin());
    total_ = rounded[best_];
    last_.assign(centres.data() + best_ * count, centres.data() + (best_ + 1) * count);
    return best_;
  }

  /// For each share, the first row, of those of all ranks, up to which the exact sum of squared distances is more than
  /// that of the sum of all; none where all are 0. Collective.
  [[nodiscard]] std::vector<Index> rows_at(const std::vector<double>& shares) {
    if (total_ == 0) return {};
    std::vector<simd::ExactSum> below(1);  // what the ranks below each have together
    for (const simd::ExactSum::State& state : mpi::all_gather(points_.context().comm(), own_[best_].state())) {
      simd::ExactSum its;
      its.set_state(state);
      below.push_back(below.back());
      below.back().merge(its);
    }
    std::vector<Index> rows(shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double target = std::min(shares[i] * total_, std::nextafter(total_, 0.0));  // less than the exact sum
      const auto less_target = [&](simd::ExactSum sum) {
        sum.add(-target);
        return sum;
      };
      // In whose part the target is, is as all know the parts.
      int rank = 0;
      while (rank + 1 < points_.context().size() &&
             !(less_target(below[at(Index{rank} + 1)]).template rounded<double>() > 0)) {
        ++rank;
      }
      if (rank == points_.context().rank()) rows[i] = points_.first() + place_at(less_target(below[at(Index{rank})]));
    }
    mpi::all_reduce(points_.context().comm(), std::span<Index>(rows), mpi::Operation::maximum());
    return rows;
  }

 private:
  static constexpr Index block = 32 * simd::nearest_points;  // points whose distances are summed up together
  [[nodiscard]] Index blocks() const { return quotient_up(squared_.count(), block); }
  [[nodiscard]] Index rows_of(Index b) const { return std::min(block, squared_.count() - b * block); }

  /// Calls f(begin, count) for some points of a block at a time, of which the numbers are in the panel.
  template <class F>
  void for_each_panel(Index b, const F& f) {
    std::array<Index, simd::nearest_points> rows;
    for (Index begin = b * block; begin < b * block + rows_of(b); begin += simd::nearest_points) {
      const Index count = std::min(simd::nearest_points, squared_.count() - begin);
      std::iota(rows.begin(), rows.end(), begin);
      fill_panel(points_.own(), std::span<const Index>(rows).first(at(count)), panel_.data());
      f(begin, count);
    }
  }

  /// The points in the panel come to know of the centre that was taken last: when they are looked at again.
  void take_last(Index begin, Index rows) {
    if (!last_.empty()) look_at(last_.data(), begin, rows, squared_.data() + begin);
  }

  /// What the squared distances of the points in the panel become with another centre.
  void look_at(const T* centre, Index begin, Index count, T* nearer) const {
    std::array<T, simd::nearest_points> d, place;
    kernels_.nearest(panel_.data(), {centre, 1, points_.dimension(), points_.dimension()}, d.data(), place.data());
    for (Index p = 0; p < count; ++p) nearer[p] = std::min(squared_[begin + p], d[at(p)]);
  }

  /// The first place up to which `sum` and all squared distances are above 0.
  [[nodiscard]] Index place_at(simd::ExactSum sum) {
    Index b = 0;
    for (; b < blocks(); ++b) {
      simd::ExactSum next = sum;
      next.merge(sums_[best_ * at(blocks()) + at(b)]);
      if (next.rounded<double>() > 0) break;
      sum = next;
    }
    for_each_panel(b, [&](Index begin, Index rows) { take_last(begin, rows); });
    for (Index i = b * block; i < squared_.count(); ++i) {
      sum.add(double{squared_[i]});
      if (sum.rounded<double>() > 0) return i;
    }
    PLAIT_ASSERT(false, "the target is less than the sum of all");
    return 0;
  }

  const Points<T>& points_;
  simd::NearestKernels<T> kernels_ = simd::nearest_kernels<T>();
  Vector<T> squared_;  // but for the last centre
  std::vector<T> last_;
  std::vector<T> panel_;
  std::vector<T> nearer_;             // of each candidate, those of a block
  std::vector<simd::ExactSum> sums_;  // of each candidate and block
  std::vector<simd::ExactSum> own_;   // of each candidate, this rank's
  std::size_t best_ = 0;              // of the candidates: the one that was taken
  double total_ = 0;                  // of all ranks
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
  std::size_t candidates = 0;
  Vector<T> centres;
  auto distances = mpi::agreed(context, [&](mpi::Alike& alike) {
    alike.add("number of clusters", clusters);
    alike.add("seed", seed);
    expect_clusters(clusters, points.count());
    centres.reserve(at(clusters * points.dimension()));
    candidates = static_cast<std::size_t>(2 + std::log(static_cast<double>(clusters)));  // as many as scikit-learn has
    return Distances<T>(points, candidates);
  });
  std::vector<Index> rows{static_cast<Index>(random_uniform(seed, 0) * static_cast<double>(points.count()))};
  std::uint64_t counter = 1;
  for (Index j = 0; true;) {
    const std::vector<T> drawn = points.rows(rows);
    const auto best = static_cast<std::ptrdiff_t>(distances.take_best(drawn)) * points.dimension();
    centres.insert(centres.end(), drawn.begin() + best, drawn.begin() + best + points.dimension());
    if (++j == clusters) return centres;
    std::vector<double> shares(candidates);
    for (double& share : shares) share = random_uniform(seed, counter++);
    rows = distances.rows_at(shares);
    if (rows.empty()) {
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

template std::vector<float> spread_centres(const Points<float>&, Index, std::uint64_t);
template std::vector<double> spread_centres(const Points<double>&, Index, std::uint64_t);
template std::vector<float> random_centres(const Points<float>&, Index, std::uint64_t);
template std::vector<double> random_centres(const Points<double>&, Index, std::uint64_t);

}  // namespace plait::kmeans
