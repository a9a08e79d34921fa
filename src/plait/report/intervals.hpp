#pragma once

#include <span>
#include <vector>

#include "plait/base/timeline.hpp"

namespace plait::report {

/// The times from `begin` on and before `end`.
struct Interval {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// The times that lie in any of the intervals, as intervals that ascend and do not touch. Those that end before they
/// begin are empty.
[[nodiscard]] std::vector<Interval> united(std::vector<Interval> intervals);

/// The times that lie in both; each is as `united` gives it.
[[nodiscard]] std::vector<Interval> common(std::span<const Interval> a, std::span<const Interval> b);

[[nodiscard]] Nanoseconds length(std::span<const Interval> disjoint) noexcept;

}  // namespace plait::report
