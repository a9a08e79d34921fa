#include "plait/kmeans/assignment.hpp"

#include <algorithm>
#include <array>
#include <bit>
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
/// From so many clusters on, single precision is tried before distances are computed.
template <class T>
constexpr Index least_narrow = sizeof(T) == sizeof(float) ? 24 : 4;

}  // namespace

/// Some points that follow each other.
template <class T>
struct Assignment<T>::Chunk {
  Index begin = 0;
  Index rows = 0;
  RowBlock<const T> centres;
  /// Those to look at, and the centres that they get.
  Index count = 0;
  std::array<std::int32_t, chunk_rows + 16> doubtful;
  std::array<std::int32_t, chunk_rows + panel_rows> found;
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
      nearest_bounds_(simd::nearest_bounds_kernel(isa_)),
      squared_scale_(points.scale() * points.scale()),
      labels_(points.own().rows, -1),
      panel_(at(panel_rows * points.dimension())) {
  const auto dimension = static_cast<double>(points.dimension());
  slack_ = static_cast<float>(0x1p-19 + 8 * (dimension + 4) * double{std::numeric_limits<T>::epsilon()});
  least_ = static_cast<float>(4 * std::sqrt(dimension * double{std::numeric_limits<T>::min()}) * points.scale());
  if (kind_ == Bounds::never) return;
  narrow_panel_.resize(at(panel_rows * points.dimension()));
  narrow_.resize(at(clusters * points.dimension()));
  origin_.resize(at(points.dimension()));
  half_.resize(clusters);
  narrow_slack_.resize(clusters);
  upper_.resize(points.own().rows);
  lower_.resize(points.own().rows);
  moved_.resize(clusters);
  moved_rounded_.resize(clusters);
  if (kind_ == Bounds::always) to_have_ = points.own().rows;
}

template <class T>
float Assignment<T>::bound(T squared) const {
  return std::sqrt(static_cast<float>(static_cast<double>(squared) * squared_scale_));
}

template <class T>
bool Assignment<T>::is_sure(float upper, float lower, float fall) const {
  return upper + (slack_ * (upper + lower) + least_) < lower - fall;
}

template <class T>
Index Assignment<T>::assign(RowBlock<const T> centres, collective::GroupSums& sums) {
  const Index rows = points_.own().rows;
  has_bounds_ = std::min(has_bounds_, to_have_);
  Index changes = 0;
  const Stopwatch watch;
  double bounded_seconds = 0;
  narrowed_ = unsure_ = 0;
  if (kind_ != Bounds::never) narrow(centres);
  Chunk chunk;
  chunk.centres = centres;
  for (chunk.begin = 0; chunk.begin < rows; chunk.begin += chunk_rows) {
    chunk.rows = std::min(chunk_rows, rows - chunk.begin);
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
    } else {
      chunk.count = chunk.rows;
      std::iota(chunk.doubtful.begin(), chunk.doubtful.begin() + chunk.rows, 0);
    }
    find(chunk);
    settle(chunk);
    changes += chunk.changes;
    if (has_bounds) bounded_seconds = watch.seconds();  // bounds are those of the first points
    if (chunk.changes == 0) continue;
    const std::size_t changed = at(chunk.changes), were_in_some = chunk.from[0] < 0 ? 0 : changed;
    sums.move(points_.own(), std::span(chunk.changed).first(changed), std::span(chunk.from).first(were_in_some),
              std::span(chunk.to).first(changed));
  }
  without_bounds_ += static_cast<double>(rows) * static_cast<double>(clusters_);
  choose_extent(has_bounds_, bounded_seconds, watch.seconds() - bounded_seconds);
  return changes;
}

/// Less their mean, around which the points are.
template <class T>
void Assignment<T>::narrow(RowBlock<const T> centres) {
  const Index d = centres.columns;
  for (Index c = 0; c < d; ++c) {
    double sum = 0;
    for (Index j = 0; j < centres.rows; ++j) sum += double{centres.data[j * centres.leading_dimension + c]};
    origin_[at(c)] = static_cast<T>(sum / static_cast<double>(centres.rows));
  }
  const float error = simd::NarrowCentres::error_of<T>(d);
  for (Index j = 0; j < centres.rows; ++j) {
    double square = 0;
    for (Index c = 0; c < d; ++c) {
      const double x =
          (double{centres.data[j * centres.leading_dimension + c]} - double{origin_[at(c)]}) * points_.scale();
      narrow_[at(j * d + c)] = static_cast<float>(x);
      square += x * x;
    }
    half_[j] = static_cast<float>((0.5 - double{error}) * square);
    narrow_slack_[j] = static_cast<float>(4 * double{error} * square);
  }
  narrow_centres_ = {{narrow_.data(), centres.rows, d, d}, half_.data(), narrow_slack_.data(), error};
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

/// Gives the doubtful points of a chunk the labels that were found.
template <class T>
void Assignment<T>::settle(Chunk& chunk) {
  std::int32_t* labels = labels_.data() + chunk.begin;
  std::array<std::int32_t, chunk_rows + 1> places;
  Index changes = 0;
  for (Index k = 0; k < chunk.count; ++k) {  // without a branch, which nothing could foretell
    places[at(changes)] = static_cast<std::int32_t>(k);
    changes += labels[chunk.doubtful[at(k)]] == chunk.found[at(k)] ? 0 : 1;
  }
  chunk.changes = changes;
  for (Index n = 0; n < chunk.changes; ++n) {
    const std::int32_t row = chunk.doubtful[at(places[at(n)])];
    chunk.changed[at(n)] = chunk.begin + row;
    chunk.from[at(n)] = labels[row];
    chunk.to[at(n)] = chunk.found[at(places[at(n)])];
    labels[row] = chunk.to[at(n)];
  }
}

/// The rank's points from there on.
template <class T>
RowBlock<const T> Assignment<T>::from(const Chunk& chunk) const {
  const RowBlock<const T> own = points_.own();
  return {own.data + chunk.begin * own.leading_dimension, own.rows - chunk.begin, own.columns, own.leading_dimension};
}

/// Finds the nearest centres of the doubtful points, and their bounds if they are to have them: in single precision
/// where that is sure, and often enough.
template <class T>
void Assignment<T>::find(Chunk& chunk) {
  const bool keeps_bounds = chunk.begin < to_have_;
  constexpr Index room = 4 * chunk_rows;
  computed_ += static_cast<double>(chunk.count) * static_cast<double>(clusters_);
  if (kind_ == Bounds::never || clusters_ < least_narrow<T> || 4 * unsure_ > narrowed_ + room) {
    for (Index begin = 0; begin < chunk.count; begin += panel_rows) {
      find_exactly(chunk, std::span(chunk.doubtful).subspan(at(begin), at(std::min(panel_rows, chunk.count - begin))),
                   chunk.found.data() + begin, keeps_bounds);
    }
    return;
  }
  std::array<float, panel_rows> upper, lower;
  std::array<std::int32_t, chunk_rows + 1> unsure, places;
  Index left = 0;
  for (Index begin = 0; begin < chunk.count; begin += panel_rows) {
    const Index count = std::min(panel_rows, chunk.count - begin);
    const auto rows = std::span(chunk.doubtful).subspan(at(begin), at(count));
    kernels_.narrow(from(chunk), rows.data(), count, origin_.data(), static_cast<T>(points_.scale()),
                    narrow_panel_.data());
    std::uint32_t bits =
        nearest_bounds_(narrow_panel_.data(), narrow_centres_, upper.data(), lower.data(), chunk.found.data() + begin);
    for (; bits != 0; bits &= bits - 1) {
      const Index p = std::countr_zero(bits);
      if (p >= count) break;
      unsure[at(left)] = rows[at(p)];
      places[at(left++)] = static_cast<std::int32_t>(begin + p);
    }
    if (!keeps_bounds) continue;
    for (Index p = 0; p < count; ++p) {
      keep_bounds(chunk.begin + rows[at(p)], chunk.found[at(begin + p)], std::sqrt(std::max(0.0F, upper[at(p)])),
                  std::sqrt(std::max(0.0F, lower[at(p)])));
    }
  }
  narrowed_ += chunk.count;
  unsure_ += left;
  std::array<std::int32_t, panel_rows> found;
  for (Index begin = 0; begin < left; begin += panel_rows) {
    const Index count = std::min(panel_rows, left - begin);
    find_exactly(chunk, std::span(unsure).subspan(at(begin), at(count)), found.data(), keeps_bounds);
    for (Index p = 0; p < count; ++p) chunk.found[at(places[at(begin + p)])] = found[at(p)];
  }
}

/// The same by distances, for a panel at most.
template <class T>
void Assignment<T>::find_exactly(const Chunk& chunk, std::span<const std::int32_t> places, std::int32_t* found,
                                 bool keeps_bounds) {
  std::array<T, panel_rows> least, place, second;
  fill_panel(from(chunk), places, panel_.data());
  if (keeps_bounds) {
    kernels_.nearest_two(panel_.data(), chunk.centres, least.data(), place.data(), second.data());
  } else {
    kernels_.nearest(panel_.data(), chunk.centres, least.data(), place.data());
  }
  for (std::size_t p = 0; p < places.size(); ++p) {
    found[p] = static_cast<std::int32_t>(place[p]);
    if (keeps_bounds) keep_bounds(chunk.begin + places[p], found[p], bound(least[p]), bound(second[p]));
  }
}

template <class T>
void Assignment<T>::keep_bounds(Index row, std::int32_t label, float upper, float lower) {
  constexpr float most = 1e30F;  // instead of infinity, of which no share is less
  upper_[row] = upper - moved_rounded_[label];
  lower_[row] = std::min(most, lower) + static_cast<float>(fall_);
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
  Index left = 0;
  for (Index k = 0; k < chunk.count; ++k) {
    const float upper = bound(squared[at(k)]);
    upper_[rows[at(k)]] = upper - moved_rounded_[label[at(k)]];
    chunk.doubtful[at(left)] = chunk.doubtful[at(k)];
    left += is_sure(upper, lower_[rows[at(k)]], static_cast<float>(fall_)) ? 0 : 1;
  }
  computed_ += static_cast<double>(chunk.count - left);
  chunk.count = left;
}

template <class T>
void Assignment<T>::nearest(RowBlock<const T> points, std::span<const Index> rows, RowBlock<const T> centres,
                            std::span<std::int32_t> found) {
  std::array<T, panel_rows> least, place;
  for (std::size_t begin = 0; begin < rows.size(); begin += place.size()) {
    const std::size_t count = std::min(place.size(), rows.size() - begin);
    fill_panel(points, rows.subspan(begin, count), panel_.data());
    kernels_.nearest(panel_.data(), centres, least.data(), place.data());
    for (std::size_t p = 0; p < count; ++p) found[begin + p] = static_cast<std::int32_t>(place[p]);
  }
  const double distances = static_cast<double>(rows.size()) * static_cast<double>(clusters_);
  computed_ += distances;
  without_bounds_ += distances;
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
void Assignment<T>::give(Index row, std::int32_t cluster, collective::GroupSums& sums) {
  const std::int32_t old = labels_[row];
  sums.move(points_.own(), {&row, 1}, {&old, 1}, {&cluster, 1});
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
