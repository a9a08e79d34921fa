#pragma once

#include <algorithm>

#include "plait/base/index.hpp"
#include "plait/layout/axis.hpp"
#include "plait/redistribute/packages/packages.hpp"

namespace plait::redistribute {

/// One direction of a panel, and where in the target's axis its elements are. A view.
class PackedAxis {
 public:
  /// \param part  of the target, that the runs are in
  PackedAxis(const layout::Axis& target, Index part, const PackedRuns& runs)
      : target_(&target), part_(part), runs_(&runs) {}

  [[nodiscard]] Index length() const noexcept { return runs_->length; }

  /// The run that has the element at this place, of all runs one behind the other.
  [[nodiscard]] std::size_t run_at(Index packed) const {
    const auto after = std::upper_bound(runs_->starts.begin(), runs_->starts.end(), packed);
    return static_cast<std::size_t>(after - runs_->starts.begin()) - 1;
  }

  [[nodiscard]] Index global_of(Index packed) const {
    const std::size_t k = run_at(packed);
    return target_->global_of(part_, runs_->runs[k].target_local + packed - runs_->starts[k]);
  }

  /// How many of the elements lie before this one of the axis, or any number beside it.
  [[nodiscard]] Index count_before(Index global) const {
    const Index in_part = target_->sub(0, std::clamp(global, Index{0}, target_->extent())).local_extent(part_);
    const auto beyond = std::partition_point(runs_->runs.begin(), runs_->runs.end(),
                                             [&](const layout::Run& run) { return run.target_local < in_part; });
    if (beyond == runs_->runs.begin()) return 0;
    const layout::Run& last = *(beyond - 1);
    const auto k = static_cast<std::size_t>(beyond - 1 - runs_->runs.begin());
    return runs_->starts[k] + std::min(last.length, in_part - last.target_local);
  }

 private:
  const layout::Axis* target_;
  Index part_;
  const PackedRuns* runs_;
};

}  // namespace plait::redistribute
