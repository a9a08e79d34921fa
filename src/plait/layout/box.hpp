#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::layout {

/// An index, an extent or a width for each of three axes, the last one contiguous in memory. Grids of fewer dimensions
/// use the last axes, and have extent 1 in the others.
inline constexpr int axes = 3;
using Point = std::array<Index, axes>;

/// The points p with low[a] <= p[a] < high[a] on each axis a.
struct Box {
  Point low{};
  Point high{};

  /// From 0 on.
  /// \param extents  of one to three dimensions, slowest first
  /// \throws ArgumentError  none or more than three, a negative one, more points than an Index counts
  [[nodiscard]] static Box of(std::span<const Index> extents);

  /// 0 where high is not above low.
  [[nodiscard]] Index extent(int axis) const noexcept { return std::max<Index>(high[at(axis)] - low[at(axis)], 0); }
  [[nodiscard]] Index points() const noexcept { return extent(0) * extent(1) * extent(2); }
  [[nodiscard]] bool is_empty() const noexcept { return points() == 0; }
  [[nodiscard]] bool contains(const Point& point) const noexcept;

  /// With so many layers more on both sides of each axis; an empty box stays empty.
  [[nodiscard]] Box grown(const Point& width) const noexcept;
  [[nodiscard]] Box shifted(const Point& by) const noexcept;
  [[nodiscard]] Box intersection(const Box& other) const noexcept;

  /// Where a point lies in memory that holds the box, the last axis contiguous.
  /// \pre  contains(point)
  [[nodiscard]] Index offset_of(const Point& point) const noexcept {
    return ((point[0] - low[0]) * extent(1) + point[1] - low[1]) * extent(2) + point[2] - low[2];
  }
  /// The point that lies there.
  /// \pre  0 <= offset < points()
  [[nodiscard]] Point point_at(Index offset) const noexcept {
    const Index row = extent(2), plane = extent(1) * row;
    return {low[0] + offset / plane, low[1] + offset % plane / row, low[2] + offset % row};
  }

  friend bool operator==(const Box&, const Box&) = default;
};

/// Calls f(point) for the first point of each row along the last axis, in the order of memory.
template <class F>
void for_each_row(const Box& box, const F& f) {
  for (Index i = box.low[0]; i < box.high[0]; ++i) {
    for (Index j = box.low[1]; j < box.high[1]; ++j) f(Point{i, j, box.low[2]});
  }
}

/// Calls f(point) for each point, in the order of memory.
template <class F>
void for_each_point(const Box& box, const F& f) {
  for_each_row(box, [&](Point point) {
    for (; point[2] < box.high[2]; ++point[2]) f(std::as_const(point));
  });
}

/// "40 x 30 x 20"
[[nodiscard]] std::string describe(const Box& box);

/// How coarse points lie among fine ones on each axis: coarse point i is at fine point 2i + first, or at i where the
/// axis is kept.
struct Coarsening {
  std::array<bool, axes> halves{};
  Point first{};  ///< 0 or 1
};

/// A box from 0 on that is cut by a grid of parts, and the ranks that own the parts. Parts may be empty, and ranks may
/// have none. With as many parts as ranks, rank r owns part r; fewer parts are spread evenly over the ranks.
class BoxPartition {
 public:
  using Splits = std::array<std::vector<Index>, axes>;
  using Parts = std::array<int, axes>;

  /// Cut as evenly as can be: the first parts of an axis have one point more.
  /// \throws ArgumentError  `whole` does not begin at 0, parts < 1 on an axis, ranks < 1 or below the number of parts
  BoxPartition(const Box& whole, const Parts& parts, int ranks);

  /// Part p of axis a is [splits[a][p], splits[a][p + 1]).
  /// \throws ArgumentError  splits that do not ascend from 0, or as above
  BoxPartition(Splits splits, int ranks);

  /// By at most `ranks` parts, so that the largest one has fewest points and layers around it.
  [[nodiscard]] static BoxPartition for_ranks(const Box& whole, int ranks, int most_parts);
  [[nodiscard]] static BoxPartition for_ranks(const Box& whole, int ranks) { return for_ranks(whole, ranks, ranks); }

  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] Box whole() const noexcept;
  [[nodiscard]] const Splits& splits() const noexcept { return splits_; }
  [[nodiscard]] Parts parts() const noexcept;
  [[nodiscard]] int number_of_parts() const noexcept;

  /// The part of a rank, if it has one.
  [[nodiscard]] std::optional<Parts> part_of(int rank) const;
  [[nodiscard]] int rank_of(const Parts& part) const noexcept;
  /// Empty where the rank has no part.
  [[nodiscard]] Box box(int rank) const;
  [[nodiscard]] Box box(const Parts& part) const;
  /// \pre  whole().contains(point)
  [[nodiscard]] int owner_of(const Point& point) const;

  /// Each coarse point on the rank that owns the fine point at its place.
  [[nodiscard]] BoxPartition coarsened(const Coarsening& how) const;

  friend bool operator==(const BoxPartition&, const BoxPartition&) = default;

 private:
  Splits splits_;
  int ranks_;
};

/// Where the points come from that one part of an axis, with ghost layers around it, is made of.
struct AxisRun {
  int source_part;
  int target_part;
  bool is_ghost;  ///< in the target
  Index target;   ///< the first point there; below 0 or beyond the extent across a periodic side
  Index source;   ///< the same one in the whole axis
  Index length;
  friend bool operator==(const AxisRun&, const AxisRun&) = default;
};

/// All runs of the parts of `target` from those of `source`, by target part, ascending. Ghost layers beyond the sides
/// exist on a periodic axis only; they may go round it several times. Empty parts have none.
/// \pre  source.back() == target.back()
[[nodiscard]] std::vector<AxisRun> axis_runs(std::span<const Index> source, std::span<const Index> target, Index width,
                                             bool is_periodic);

}  // namespace plait::layout
