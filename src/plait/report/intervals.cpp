#include "plait/report/intervals.hpp"

#include <algorithm>

namespace plait::report {

std::vector<Interval> united(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  std::vector<Interval> result;
  for (const Interval& next : intervals) {
    if (next.end <= next.begin) continue;
    if (!result.empty() && next.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, next.end);
    } else {
      result.push_back(next);
    }
  }
  return result;
}

std::vector<Interval> common(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> result;
  while (!a.empty() && !b.empty()) {
    const Interval both{std::max(a.front().begin, b.front().begin), std::min(a.front().end, b.front().end)};
    if (both.begin < both.end) result.push_back(both);
    auto& first_over = a.front().end < b.front().end ? a : b;
    first_over = first_over.subspan(1);
  }
  return result;
}

Nanoseconds length(std::span<const Interval> disjoint) noexcept {
  Nanoseconds sum = 0;
  for (const Interval& interval : disjoint) sum += interval.end - interval.begin;
  return sum;
}

}  // namespace plait::report
