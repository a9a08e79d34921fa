#include <algorithm>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "plait/layout/overlay.hpp"

#include "random_axis.hpp"

namespace plait::test {
namespace {

using layout::AxisOverlay;
using layout::Run;

/// The elements that every source part shares with every target part as maximal runs, found element by element.
using NaiveOverlay = std::map<std::pair<Index, Index>, std::vector<Run>>;

NaiveOverlay naive_overlay(const NaiveAxis& source, const NaiveAxis& target) {
  NaiveOverlay overlay;
  for (std::size_t i = 0; i < source.part.size(); ++i) {
    auto& runs = overlay[{source.part[i], target.part[i]}];
    const Run element{static_cast<Index>(i), source.local[i], target.local[i], 1};
    const bool continues = !runs.empty() && runs.back().source_local + runs.back().length == element.source_local &&
                           runs.back().target_local + runs.back().length == element.target_local;
    if (continues) {
      ++runs.back().length;
    } else {
      runs.push_back(element);
    }
  }
  return overlay;
}

Index total_length(const std::vector<Run>& runs) {
  Index sum = 0;
  for (const Run& run : runs) sum += run.length;
  return sum;
}

/// Checks everything that one side sees; `key(other)` is the (source part, target part) of an other part.
template <class Key>
void expect_seen(const AxisOverlay& seen, Index other_parts, const NaiveOverlay& expected, Key key) {
  Index listed = 0;
  for (Index other = 0; other < other_parts; ++other) {
    const auto found = expected.find(key(other));
    const Index i = seen.find(other);
    if (found == expected.end()) {
      ASSERT_EQ(i, -1);
      continue;
    }
    ASSERT_EQ(i, listed++) << "parts are sorted and none is missing";
    ASSERT_EQ(seen[i].part, other);
    ASSERT_EQ(seen[i].length, total_length(found->second));
    ASSERT_EQ(std::vector<Run>(seen[i].runs.begin(), seen[i].runs.end()), found->second);
  }
  ASSERT_EQ(seen.size(), listed);
}

TEST(OverlayProperty, BothSidesSeeTheRunsThatCountingFinds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Dice dice(seed);
    const Index extent = dice.between(0, 70);
    const AxisPair source = random_axis(dice, extent);
    const AxisPair target = dice.maybe(10) ? source : random_axis(dice, extent);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + source.made + " to " + target.made);
    const NaiveOverlay expected = naive_overlay(source.naive, target.naive);
    for (Index s = 0; s < source.axis.parts(); ++s) {
      expect_seen(AxisOverlay::of_source(source.axis, s, target.axis), target.axis.parts(), expected,
                  [&](Index other) { return std::pair(s, other); });
      if (HasFatalFailure()) return;
    }
    for (Index t = 0; t < target.axis.parts(); ++t) {
      expect_seen(AxisOverlay::of_target(source.axis, target.axis, t), source.axis.parts(), expected,
                  [&](Index other) { return std::pair(other, t); });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(OverlayProperty, CoversALongAxisOnceFromEitherSide) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    const Index offset = (Index{1} << 40) + dice.between(0, 1000);
    const Index extent = dice.between(2000, 20000);
    const auto random_range = [&] {
      const Index parts = dice.between(1, 9);
      const Index block = dice.between(1, 300);
      return layout::Axis::cyclic(offset + extent, block, parts, dice.between(0, parts - 1))
          .sub(offset, offset + extent);
    };
    const layout::Axis source = random_range();
    const layout::Axis target = random_range();
    Index covered = 0;
    for (Index s = 0; s < source.parts(); ++s) {
      for (const auto& shared : AxisOverlay::of_source(source, s, target)) {
        covered += shared.length;
        const auto other_side = AxisOverlay::of_target(source, target, shared.part);
        const auto& same = other_side[other_side.find(s)];
        ASSERT_TRUE(std::ranges::equal(shared.runs, same.runs));
        for (const layout::Run& run : shared.runs) {
          for (const Index i : {Index{0}, run.length - 1}) {
            const Index global = source.global_of(s, run.source_local + i);
            ASSERT_EQ(global, target.global_of(shared.part, run.target_local + i));
            ASSERT_TRUE(i > 0 || global == run.global);
          }
        }
      }
    }
    ASSERT_EQ(covered, extent);
  }
}

}  // namespace
}  // namespace plait::test
