#pragma once

#include <functional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/axis.hpp"
#include "plait/poisson/level.hpp"

namespace plait::poisson {

/// The connected components of a graph of points: each is told by the number of its first point in the whole box.
class Components {
 public:
  static constexpr Index outside = -1, beyond = -2;  ///< in place of it

  /// Collective.
  /// \param inside  by this rank's points, the last axis contiguous: which take part; empty: all
  /// \param joins   (axis, point): whether a point and the one below it are joined, if both take part; of this rank's
  ///                points and those above them
  Components(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition,
             const std::vector<bool>& inside,
             const std::function<bool(std::size_t axis, const layout::Point& point)>& joins);

  /// Calls f(point, its component) for this rank's points that take part.
  template <class F>
  void for_each_point(const F& f) const {
    layout::for_each_point(own_, [&](const layout::Point& point) {
      if (const Index label = of(point); label >= 0) f(point, label);
    });
  }
  /// Of a point of this rank or next to one; `beyond` sides there is none.
  [[nodiscard]] Index of(const layout::Point& point) const { return labels_[at(memory_.offset_of(point))]; }
  /// Those that lie on several ranks, ascending, the same on all; others may be among them.
  [[nodiscard]] const std::vector<Index>& shared() const noexcept { return shared_; }

 private:
  layout::Box own_, memory_;
  std::vector<Index> labels_, shared_;
};

/// The connected parts of a domain. On a part where u is given nowhere, on no side and at no point next to it, the
/// equation leaves a constant free, and has a solution only for an f of mean 0.
class Parts {
 public:
  /// Each rank's inside points hang together with those next to them. Collective.
  /// \param inside    by this rank's points, the last axis contiguous; empty: all are
  /// \param is_given  whether u is given at the points outside
  Parts(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition, const std::vector<bool>& inside,
        bool is_given);

  [[nodiscard]] Index count() const noexcept { return count_; }
  /// Of those with a free constant, a point of each.
  [[nodiscard]] const std::vector<layout::Point>& free() const noexcept { return free_; }
  /// The free part that a point of this rank is in, by number of the point; -1: none.
  [[nodiscard]] Index of(Index point) const { return all_free_ ? 0 : of_.empty() ? -1 : of_[at(point)]; }

 private:
  Index count_ = 1;
  std::vector<layout::Point> free_;
  bool all_free_ = false;
  std::vector<Index> of_;
};

}  // namespace plait::poisson
