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
constexpr Index clusters_of_group = 10;
constexpr Index least_grouped = 32;  // fewer clusters have one bound
/// From so many clusters on, a point's distance to its own centre is looked at before all others.
constexpr Index least_tightened = 4;

Index groups_for(Index clusters, Index most) {
  return clusters < least_grouped ? 1 : std::min(most, (clusters + clusters_of_group - 1) / clusters_of_group);
}

/// Groups of centres that are near each other, by a few iterations of k-means among them: `group` of each.
template <class T>
void group_centres(RowBlock<const T> centres, Index groups, Vector<std::int32_t>& group) {
  const Index dimension = centres.columns;
  const auto row_of = [&](Index j) { return centres.data + j * centres.leading_dimension; };
  const auto nearest_to = [&](const T* centre, Index g, const Vector<double>& means) {
    double sum = 0;
    for (Index c = 0; c < dimension; ++c) {
      const double t = double{centre[c]} - means[g * dimension + c];
      sum += t * t;
    }
    return sum;
  };
  std::ranges::fill(group, 0);
  if (groups == 1) return;
  Vector<double> means;
  for (Index g = 0; g < groups; ++g) {
    const T* row = row_of(g * centres.rows / groups);
    means.insert(means.end(), row, row + dimension);
  }
  constexpr int rounds = 5;
  for (int round = 0; round < rounds; ++round) {
    Vector<double> sums(groups * dimension);
    Vector<Index> counts(groups);
    for (Index j = 0; j < centres.rows; ++j) {
      double least = std::numeric_limits<double>::infinity();
      for (Index g = 0; g < groups; ++g) {
        const double d = nearest_to(row_of(j), g, means);
        if (!(d < least)) continue;
        least = d;
        group[j] = static_cast<std::int32_t>(g);
      }
      ++counts[group[j]];
      for (Index c = 0; c < dimension; ++c) sums[group[j] * dimension + c] += double{row_of(j)[c]};
    }
    for (Index g = 0; g < groups; ++g) {
      if (counts[g] == 0) continue;
      for (Index c = 0; c < dimension; ++c) {
        means[g * dimension + c] = sums[g * dimension + c] / static_cast<double>(counts[g]);
      }
    }
  }
}

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
  /// Of each point: the least squared distance, of which centre, in which group that was found, and the next one there.
  std::array<T, chunk_rows> least, second;
  std::array<std::int32_t, chunk_rows> label, found_in;
  std::array<float, chunk_rows> upper;
  std::array<std::int32_t, chunk_rows> of_group;
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
  const Index groups = groups_for(clusters, most_bounds);
  upper_.resize(points.own().rows);
  lower_.resize(points.own().rows);
  if (groups > 1) group_lower_.resize(points.own().rows * groups);
  moved_.resize(clusters);
  moved_rounded_.resize(clusters);
  group_fall_.resize(groups);
  group_begin_.resize(groups + 1);
  order_.resize(clusters);
  group_of_.resize(clusters);
  ordered_.resize(clusters * points.dimension());
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
  if (to_have_ > has_bounds_) {  // groups as centres are now
    has_bounds_ = 0;
    group(centres);
  } else {
    has_bounds_ = std::min(has_bounds_, to_have_);
  }
  if (to_have_ > 0) {
    for (Index p = 0; p < clusters_; ++p) {
      std::copy_n(centres.data + order_[p] * centres.leading_dimension, centres.columns,
                  ordered_.data() + p * centres.columns);
    }
  }
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
      if (chunk.count > 0) assign_doubtful(chunk, false);
    } else if (chunk.begin < to_have_) {
      chunk.count = chunk.rows;
      std::iota(chunk.doubtful.begin(), chunk.doubtful.begin() + chunk.rows, 0);
      assign_doubtful(chunk, true);
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

/// Leaves out of the doubtful points those which are as before: as the bounds of all groups show, or these and the
/// distance to the own centre.
template <class T>
void Assignment<T>::drop_sure(Chunk& chunk) {
  const Index groups = group_fall_.count();
  const auto fall = static_cast<float>(fall_);
  std::array<Index, chunk_rows> rows;
  Index left = 0;
  for (Index k = 0; k < chunk.count; ++k) {
    const std::int32_t i = chunk.doubtful[at(k)];
    const Index row = chunk.begin + i;
    const std::int32_t label = labels_[row];
    if (groups > 1) {
      const float* of_groups = group_lower_.data() + row * groups;
      float lowest = of_groups[0] - group_fall_rounded_[0];
      for (Index g = 1; g < groups; ++g) lowest = std::min(lowest, of_groups[g] - group_fall_rounded_[at(g)]);
      lower_[row] = lowest + fall;
      if (is_sure(upper_[row] + moved_rounded_[label], lower_[row], fall)) continue;
    }
    rows[at(left)] = row;
    chunk.label[at(left)] = label;
    chunk.doubtful[at(left++)] = i;
  }
  chunk.count = left;
  std::array<T, chunk_rows> squared;
  kernels_.own(points_.own(), rows.data(), chunk.count, chunk.centres, chunk.label.data(), squared.data());
  chunk.computed += static_cast<double>(chunk.count);
  left = 0;
  for (Index k = 0; k < chunk.count; ++k) {
    const float upper = bound(squared[at(k)]);
    const std::int32_t label = chunk.label[at(k)];
    upper_[rows[at(k)]] = upper - moved_rounded_[label];
    if (is_sure(upper, lower_[rows[at(k)]], fall)) continue;
    chunk.doubtful[at(left)] = chunk.doubtful[at(k)];
    chunk.label[at(left)] = label;
    chunk.least[at(left)] = squared[at(k)];
    chunk.upper[at(left++)] = upper;
  }
  chunk.count = left;
}

/// Computes the distances of up to a panel of the doubtful points to all centres of some groups.
template <class T>
void Assignment<T>::look_at(Chunk& chunk, Index first_group, Index end_group, const std::int32_t* which, Index count) {
  const Index groups = group_fall_.count();
  const Index dimension = points_.dimension();
  std::array<T, panel_rows> least;
  std::array<T, panel_rows> place;
  std::array<T, panel_rows> second;
  std::array<std::int32_t, panel_rows> rows;
  for (Index p = 0; p < count; ++p) rows[at(p)] = chunk.doubtful[at(which[p])];
  fill_panel(chunk, rows.data(), count, panel_.data());
  for (Index g = first_group; g < end_group; ++g) {
    const Index first = group_begin_[g];
    if (first == group_begin_[g + 1]) continue;
    const RowBlock<const T> centres{ordered_.data() + first * dimension, group_begin_[g + 1] - first, dimension,
                                    dimension};
    chunk.computed += static_cast<double>(count) * static_cast<double>(centres.rows);
    kernels_.nearest_two(panel_.data(), centres, least.data(), place.data(), second.data());
    for (Index p = 0; p < count; ++p) {
      const auto k = at(which[p]);
      const T d = least[at(p)];
      const std::int32_t label = order_[first + static_cast<Index>(place[at(p)])];
      if (groups > 1) {
        group_lower_[(chunk.begin + rows[at(p)]) * groups + g] = bound(d) + group_fall_rounded_[at(g)];
      }
      if (d > chunk.least[k] || (d == chunk.least[k] && label > chunk.label[k])) continue;
      chunk.least[k] = d;
      chunk.label[k] = label;
      chunk.found_in[k] = static_cast<std::int32_t>(g);
      chunk.second[k] = second[at(p)];
    }
  }
}

template <class T>
void Assignment<T>::assign_doubtful(Chunk& chunk, bool is_fresh) {
  const Index groups = group_fall_.count();
  const bool is_tight = !is_fresh && clusters_ >= least_tightened;
  if (is_tight) {
    drop_sure(chunk);
  } else {
    std::fill_n(chunk.least.begin(), chunk.count, std::numeric_limits<T>::infinity());
    std::fill_n(chunk.label.begin(), chunk.count, std::numeric_limits<std::int32_t>::max());
  }
  std::fill_n(chunk.found_in.begin(), chunk.count, -1);

  if (is_tight && groups > 1) {
    for (Index g = 0; g < groups; ++g) {
      // Those of which some centre of the group may be nearest.
      Index count = 0;
      for (Index k = 0; k < chunk.count; ++k) {
        const float lower = group_lower_[(chunk.begin + chunk.doubtful[at(k)]) * groups + g];
        chunk.of_group[at(count)] = static_cast<std::int32_t>(k);
        count += is_sure(chunk.upper[at(k)], lower, group_fall_rounded_[at(g)]) ? 0 : 1;
      }
      for (Index begin = 0; begin < count; begin += panel_rows) {
        look_at(chunk, g, g + 1, chunk.of_group.data() + begin, std::min(panel_rows, count - begin));
      }
    }
  } else {
    std::iota(chunk.of_group.begin(), chunk.of_group.begin() + chunk.count, 0);
    for (Index begin = 0; begin < chunk.count; begin += panel_rows) {
      look_at(chunk, 0, groups, chunk.of_group.data() + begin, std::min(panel_rows, chunk.count - begin));
    }
  }

  for (Index k = 0; k < chunk.count; ++k) {
    const std::int32_t i = chunk.doubtful[at(k)];
    const Index row = chunk.begin + i;
    const std::int32_t label = chunk.label[at(k)];
    const std::int32_t old = labels_[row];
    const std::int32_t found_in = chunk.found_in[at(k)];
    float lower = found_in >= 0 ? bound(chunk.second[at(k)]) : 0;
    if (groups > 1) {
      float* of_groups = group_lower_.data() + row * groups;
      if (found_in >= 0) of_groups[found_in] = lower + group_fall_rounded_[at(found_in)];
      if (is_tight && label != old) {  // the centre that it had is one of the others now
        const std::int32_t g = group_of_[old];
        of_groups[g] = std::min(of_groups[g], chunk.upper[at(k)] + group_fall_rounded_[at(g)]);
      }
      lower = std::numeric_limits<float>::infinity();
      for (Index g = 0; g < groups; ++g) lower = std::min(lower, of_groups[g] - group_fall_rounded_[at(g)]);
    }
    upper_[row] = bound(chunk.least[at(k)]) - moved_rounded_[label];
    lower_[row] = lower + static_cast<float>(fall_);
    settle(chunk, i, label);
  }
}

template <class T>
void Assignment<T>::group(RowBlock<const T> centres) {
  group_centres(centres, group_fall_.count(), group_of_);
  std::ranges::fill(group_begin_, 0);
  for (const std::int32_t g : group_of_) ++group_begin_[Index{g} + 1];
  std::partial_sum(group_begin_.begin(), group_begin_.end(), group_begin_.begin());
  Vector<Index> next = group_begin_;
  for (Index j = 0; j < clusters_; ++j) order_[next[group_of_[j]]++] = static_cast<std::int32_t>(j);
  std::ranges::fill(moved_, 0);
  std::ranges::fill(moved_rounded_, 0);
  std::ranges::fill(group_fall_, 0);
  group_fall_rounded_.fill(0);
  fall_ = 0;
}

template <class T>
void Assignment<T>::moved(RowBlock<const T> before, RowBlock<const T> after) {
  if (has_bounds_ == 0) return;
  Vector<double>& falls = group_fall_;
  std::array<double, most_bounds> most{};
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
    most[at(group_of_[j])] = std::max(most[at(group_of_[j])], way);
  }
  for (Index g = 0; g < falls.count(); ++g) {
    falls[g] += most[at(g)];
    group_fall_rounded_[at(g)] = static_cast<float>(falls[g]);
  }
  fall_ += *std::ranges::max_element(most);
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
  if (!group_lower_.empty())
    std::fill_n(group_lower_.data() + row * group_fall_.count(), group_fall_.count(), nothing_known);
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
