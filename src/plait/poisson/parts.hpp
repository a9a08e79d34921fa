#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/axis.hpp"
#include "plait/poisson/level.hpp"

namespace plait::poisson {

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
