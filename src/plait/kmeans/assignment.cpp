#include "plait/kmeans/assignment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "plait/base/stopwatch.hpp"
#include "plait/simd/isa.hpp"

namespace plait::kmeans {

namespace {

constexpr Index chunk_rows = 512;
constexpr Index panel_rows = simd::nearest_points;
/// From so many clusters on, a point's distance to its own centre is looked at before all others.
constexpr Index least_tightened = 4;

}  // namespace

/// Some points that follow each other.
template <class T>
struct Assignment<T>::Chunk {
  Index begin = 0;
  Index rows = 0;
  RowBlock<const T> centres;
  double computed = 0;
  /// Those to look at.
  Index count = 0;
  std::array<std::int32_t, chunk_rows + 16> doubtful;
  /// Those that change.
  Index changes = 0;
  std::array<Index, chunk_rows + 1> changed;
  std::array<std::int32_t, chunk_rows + 1> from, to;
};

template <class T>
Assignment<T>::Assignment(const Points<T>& points, Index clusters, Bounds bounds)
    : points_(points),
      clusters_(clusters),
      kind_(bounds),
      isa_(simd::selected_isa()),
      kernels_(simd::nearest_kernels<T>(isa_)),
      find_doubtful_(simd::doubtful_kernel(isa_)),
      squared_scale_(points.scale() * points.scale()),
      labels_(points.own().rows, -1),
      panel_(at(panel_rows * points.dimension())) {
  const auto dimension = static_cast<double>(points.dimension());
  slack_ = static_cast<float>(0x1p-19 + 8 * (dimension + 4) * double{std::numeric_limits<T>::epsilon()});
  least_ = static_cast<float>(4 * std::sqrt(dimension * double{std::numeric_limits<T>::min()}) * points.scale());
  if (kind_ == Bounds::never) return;
  upper_.resize(points.own().rows);
  lower_.resize(points.own().rows);
  moved_.resize(clusters);
  moved_rounded_.resize(clusters);
  if (kind_ == Bounds::always) to_have_ = points.own().rows;
}

template <class T>
float Assignment<T>::bound(T squared) const {
  constexpr float most = 1e30F;  // instead of infinity, of which no share is less
  return std::min(most, std::sqrt(static_cast<float>(static_cast<double>(squared) * squared_scale_)));
}

template <class T>
bool Assignment<T>::is_sure(float upper, float lower, float fall) const {
  return upper + (slack_ * (upper + lower) + least_) < lower - fall;
}

template <class T>
Index Assignment<T>::assign(RowBlock<const T> centres, ClusterSums<T>& sums) {
  const Index rows = points_.own().rows;
  has_bounds_ = std::min(has_bounds_, to_have_);
  Index changes = 0;
  const Stopwatch watch;
  double bounded_seconds = 0;
  Chunk chunk;
  chunk.centres = centres;
  for (chunk.begin = 0; chunk.begin < rows; chunk.begin += chunk_rows) {
    chunk.rows = std::min(chunk_rows, rows - chunk.begin);
    chunk.computed = 0;
    chunk.changes = 0;
    const bool has_bounds = chunk.begin < has_bounds_;
    if (has_bounds) {
      const simd::MovedBounds bounds{upper_.data() + chunk.begin,
                                     lower_.data() + chunk.begin,
                                     labels_.data() + chunk.begin,
                                     moved_rounded_.data(),
                                     static_cast<float>(fall_),
                                     slack_,
                                     least_};
      chunk.count = find_doubtful_(bounds, chunk.rows, chunk.doubtful.data());
      if (chunk.count > 0 && clusters_ >= least_tightened) drop_sure(chunk);
      assign_doubtful(chunk);
    } else if (chunk.begin < to_have_) {
      chunk.count = chunk.rows;
      std::iota(chunk.doubtful.begin(), chunk.doubtful.begin() + chunk.rows, 0);
      assign_doubtful(chunk);
    } else {
      assign_plainly(chunk);
    }
    computed_ += chunk.computed;
    changes += chunk.changes;
    if (has_bounds) bounded_seconds = watch.seconds();  // bounds are those of the first points
    const std::size_t changed = at(chunk.changes);
    sums.move(std::span(chunk.changed).first(changed), std::span(chunk.from).first(changed),
              std::span(chunk.to).first(changed));
  }
  without_bounds_ += static_cast<double>(rows) * static_cast<double>(clusters_);
  choose_extent(has_bounds_, bounded_seconds, watch.seconds() - bounded_seconds);
  return changes;
}

/// \param rows  that had bounds, and what they took; the others took `seconds`
template <class T>
void Assignment<T>::choose_extent(Index rows, double bounded_seconds, double seconds) {
  const Index all = points_.own().rows;
  if (to_have_ == rows && rows < all) plain_seconds_ = seconds / static_cast<double>(all - rows);
  has_bounds_ = to_have_;
  if (kind_ != Bounds::automatic || clusters_ == 1) return;
  const Index few = std::min(all, (all / 16 + chunk_rows - 1) / chunk_rows * chunk_rows);
  if (rows == 0) {
    to_have_ = std::max(to_have_, few);
    return;
  }
  const double ratio = bounded_seconds / static_cast<double>(rows) / plain_seconds_;
  good_ = ratio < 0.7 ? good_ + 1 : 0;
  if (good_ >= 2) {
    to_have_ = all;
  } else if (ratio > 1) {
    to_have_ = few;
  }
}

template <class T>
void Assignment<T>::settle(Chunk& chunk, std::int32_t i, std::int32_t label) {
  std::int32_t& old = labels_[chunk.begin + i];
  // Without a branch, which nothing could foretell.
  chunk.changed[at(chunk.changes)] = chunk.begin + i;
  chunk.from[at(chunk.changes)] = old;
  chunk.to[at(chunk.changes)] = label;
  chunk.changes += old == label ? 0 : 1;
  old = label;
}

template <class T>
void Assignment<T>::fill_panel(const Chunk& chunk, const std::int32_t* rows, Index count, T* panel) const {
  const RowBlock<const T> own = points_.own();
  constexpr Index at_once = 4;  // whose numbers are stored together
  for (Index p = 0; p < count; p += at_once) {
    std::array<const T*, at_once> from;
    for (Index q = 0; q < at_once; ++q) {
      from[at(q)] = own.data + (chunk.begin + rows[std::min(p + q, count - 1)]) * own.leading_dimension;
    }
    const auto [first, second, third, fourth] = from;
    T* to = panel + p;
    for (Index c = 0; c < own.columns; ++c, to += panel_rows) {
      to[0] = first[c];
      to[1] = second[c];
      to[2] = third[c];
      to[3] = fourth[c];
    }
  }
}

template <class T>
void Assignment<T>::assign_plainly(Chunk& chunk) {
  std::array<std::int32_t, panel_rows> rows;
  std::array<T, panel_rows> least;
  std::array<T, panel_rows> place;
  for (Index begin = 0; begin < chunk.rows; begin += panel_rows) {
    const Index count = std::min(panel_rows, chunk.rows - begin);
    std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(begin));
    fill_panel(chunk, rows.data(), count, panel_.data());
    kernels_.nearest(panel_.data(), chunk.centres, least.data(), place.data());
    for (Index p = 0; p < count; ++p) settle(chunk, rows[at(p)], static_cast<std::int32_t>(place[at(p)]));
  }
  chunk.computed = static_cast<double>(chunk.rows) * static_cast<double>(clusters_);
}

/// Leaves out of the doubtful points those of which the distance to the own centre shows that they are as before.
template <class T>
void Assignment<T>::drop_sure(Chunk& chunk) {
  std::array<Index, chunk_rows> rows;
  std::array<std::int32_t, chunk_rows> label;
  std::array<T, chunk_rows> squared;
  for (Index k = 0; k < chunk.count; ++k) {
    rows[at(k)] = chunk.begin + chunk.doubtful[at(k)];
    label[at(k)] = labels_[rows[at(k)]];
  }
  kernels_.own(points_.own(), rows.data(), chunk.count, chunk.centres, label.data(), squared.data());
  chunk.computed += static_cast<double>(chunk.count);
  Index left = 0;
  for (Index k = 0; k < chunk.count; ++k) {
    const float upper = bound(squared[at(k)]);
    upper_[rows[at(k)]] = upper - moved_rounded_[label[at(k)]];
    chunk.doubtful[at(left)] = chunk.doubtful[at(k)];
    left += is_sure(upper, lower_[rows[at(k)]], static_cast<float>(fall_)) ? 0 : 1;
  }
  chunk.count = left;
}

/// Computes the distances of the doubtful points to all centres.
template <class T>
void Assignment<T>::assign_doubtful(Chunk& chunk) {
  std::array<T, panel_rows> least;
  std::array<T, panel_rows> place;
  std::array<T, panel_rows> second;
  for (Index begin = 0; begin < chunk.count; begin += panel_rows) {
    const Index count = std::min(panel_rows, chunk.count - begin);
    const std::int32_t* rows = chunk.doubtful.data() + begin;
    fill_panel(chunk, rows, count, panel_.data());
    kernels_.nearest_two(panel_.data(), chunk.centres, least.data(), place.data(), second.data());
    for (Index p = 0; p < count; ++p) {
      const Index row = chunk.begin + rows[p];
      const auto label = static_cast<std::int32_t>(place[at(p)]);
      upper_[row] = bound(least[at(p)]) - moved_rounded_[label];
      lower_[row] = bound(second[at(p)]) + static_cast<float>(fall_);
      settle(chunk, rows[p], label);
    }
  }
  chunk.computed += static_cast<double>(chunk.count) * static_cast<double>(clusters_);
}

template <class T>
void Assignment<T>::moved(RowBlock<const T> before, RowBlock<const T> after) {
  if (has_bounds_ == 0) return;
  double most = 0;
  for (Index j = 0; j < clusters_; ++j) {
    double squared = 0;
    for (Index c = 0; c < before.columns; ++c) {
      const double t =
          double{after.data[j * after.leading_dimension + c]} - double{before.data[j * before.leading_dimension + c]};
      squared += t * t;
    }
    const double way = std::sqrt(squared) * points_.scale() * (1 + 0x1p-30);
    moved_[j] += way;
    moved_rounded_[j] = static_cast<float>(moved_[j]);
    most = std::max(most, way);
  }
  fall_ += most;
}

template <class T>
void Assignment<T>::give(Index row, std::int32_t cluster, ClusterSums<T>& sums) {
  const std::int32_t old = labels_[row];
  sums.move({&row, 1}, {&old, 1}, {&cluster, 1});
  labels_[row] = cluster;
  if (row >= has_bounds_) return;
  constexpr float nothing_known = -std::numeric_limits<float>::infinity();
  upper_[row] = 0;
  lower_[row] = nothing_known;
}

template <class T>
void Assignment<T>::own_distances(RowBlock<const T> centres, Index first, std::span<T> d) const {
  std::array<Index, chunk_rows> rows;
  for (std::size_t begin = 0; begin < d.size(); begin += rows.size()) {
    const std::size_t count = std::min(rows.size(), d.size() - begin);
    std::iota(rows.begin(), rows.begin() + static_cast<Index>(count), first + static_cast<Index>(begin));
    kernels_.own(points_.own(), rows.data(), static_cast<Index>(count), centres, labels_.data() + rows[0],
                 d.data() + begin);
  }
}

template class Assignment<float>;
template class Assignment<double>;

}  // namespace plait::kmeans
