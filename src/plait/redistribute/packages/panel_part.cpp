#include "plait/redistribute/packages/panel_part.hpp"

#include <algorithm>

#include "plait/redistribute/packages/packed_axis.hpp"

namespace plait::redistribute {

namespace {

/// For each place c across, the places [0, height(c)) down, where height grows with c.
class Staircase {
 public:
  /// The elements with down's global index <= across's global index + shift.
  Staircase(PackedAxis down, PackedAxis across, Index shift) : down_(down), across_(across), shift_(shift) {}

  /// Calls f(first down, last down, first across, last across) for rectangles, ends excluded.
  template <class F>
  void for_each_rectangle(F&& f) const {
    if (across_.length() > 0) cut(0, 0, across_.length(), f);
  }

 private:
  [[nodiscard]] Index height(Index c) const { return down_.count_before(across_.global_of(c) + shift_ + 1); }

  // What stands on `bottom` at places [first, last).
  template <class F>
  void cut(Index bottom, Index first, Index last, F& f) const {
    const Index lowest = height(first);
    if (lowest > bottom) f(bottom, lowest, first, last);
    if (last - first < 2 || height(last - 1) == lowest) return;
    const Index middle = first + (last - first) / 2;
    cut(lowest, first, middle, f);
    cut(lowest, middle, last, f);
  }

  PackedAxis down_, across_;
  Index shift_;
};

}  // namespace

std::vector<PackedRectangle> rectangles_within(const Trapezoid& part, const Panel& panel,
                                               const layout::Layout& target) {
  const PackedAxis rows(target.rows(), panel.target_position.row, *panel.rows);
  const PackedAxis columns(target.columns(), panel.target_position.column, *panel.columns);
  std::vector<PackedRectangle> rectangles;
  if (part.side == Trapezoid::Side::upper) {
    Staircase(rows, columns, part.diagonal).for_each_rectangle([&](Index top, Index bottom, Index left, Index right) {
      rectangles.push_back({top, bottom - top, left, right - left});
    });
  } else {
    Staircase(columns, rows, -part.diagonal).for_each_rectangle([&](Index left, Index right, Index top, Index bottom) {
      rectangles.push_back({top, bottom - top, left, right - left});
    });
  }
  return rectangles;
}

}  // namespace plait::redistribute
