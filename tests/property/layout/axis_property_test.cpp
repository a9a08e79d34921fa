#include <gtest/gtest.h>

#include "random_axis.hpp"

namespace plait::test {
namespace {

using layout::Axis;
using layout::Piece;
using layout::Segment;

/// The maximal segments of every part, found element by element.
std::vector<std::vector<Segment>> naive_segments(const NaiveAxis& naive) {
  std::vector<std::vector<Segment>> segments(at(naive.parts()));
  for (Index i = 0; i < naive.extent(); ++i) {
    auto& mine = segments[at(naive.part[at(i)])];
    if (!mine.empty() && mine.back().global + mine.back().length == i) {
      ++mine.back().length;
    } else {
      mine.push_back({i, naive.local[at(i)], 1});
    }
  }
  return segments;
}

TEST(AxisProperty, EveryElementLiesWhereCountingPutsIt) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Dice dice(seed);
    const auto [axis, naive, made] = random_axis(dice, dice.between(0, 70));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + made);
    ASSERT_EQ(axis.extent(), naive.extent());
    ASSERT_EQ(axis.parts(), naive.parts());
    for (Index i = 0; i < axis.extent(); ++i) {
      ASSERT_EQ(axis.part_of(i), naive.part[at(i)]) << "element " << i;
      ASSERT_EQ(axis.local_of(i), naive.local[at(i)]) << "element " << i;
      ASSERT_EQ(axis.global_of(axis.part_of(i), axis.local_of(i)), i);
    }
    for (Index part = 0; part < axis.parts(); ++part) {
      ASSERT_EQ(axis.local_extent(part), naive.extents[at(part)]) << "part " << part;
      ASSERT_EQ(axis.skipped_before(part), naive.skipped[at(part)]) << "part " << part;
    }
  }
}

TEST(AxisProperty, SegmentsAreMaximalIncreasingAndComplete) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Dice dice(seed);
    const auto [axis, naive, made] = random_axis(dice, dice.between(0, 70));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + made);
    const auto expected = naive_segments(naive);
    for (Index part = 0; part < axis.parts(); ++part) {
      std::vector<Segment> found;
      axis.for_each_segment(part, [&](const Segment& segment) { found.push_back(segment); });
      ASSERT_EQ(found, expected[at(part)]) << "part " << part;
      for (const Segment& segment : found) {
        for (Index i = 0; i < segment.length; ++i) {
          ASSERT_EQ(axis.piece_at(segment.global + i), (Piece{part, segment}));
        }
      }
    }
  }
}

TEST(AxisProperty, RangesComposeAndEqualAxesAnswerAlike) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Dice dice(seed);
    const auto [axis, naive, made] = random_axis(dice, dice.between(0, 70));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + made);
    const Index begin = dice.between(0, axis.extent());
    const Index end = dice.between(begin, axis.extent());
    const Index inner_begin = dice.between(0, end - begin);
    const Index inner_end = dice.between(inner_begin, end - begin);
    ASSERT_EQ(axis.sub(begin, end).sub(inner_begin, inner_end), axis.sub(begin + inner_begin, begin + inner_end));
    ASSERT_EQ(axis.sub(0, axis.extent()), axis);
    // A pointer into a part's storage, moved by what was skipped, meets the same elements.
    const Axis range = axis.sub(begin, end);
    for (Index i = 0; i < range.extent(); ++i) {
      const Index part = range.part_of(i);
      const Index newly_skipped = range.skipped_before(part) - axis.skipped_before(part);
      ASSERT_EQ(range.local_of(i) + newly_skipped, axis.local_of(begin + i));
    }
  }
}

TEST(AxisProperty, LargeAxesAnswerAsSmallOnesShiftedByWholeRounds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    const Index block = dice.between(1, 8);
    const Index parts = dice.between(1, 5);
    const Index first = dice.between(0, parts - 1);
    const Index extent = dice.between(0, 70);
    const Index rounds = (Index{1} << 40) + dice.between(0, 1000);
    const Index far = rounds * block * parts;
    const Axis near_axis = Axis::cyclic(extent, block, parts, first);
    const Axis far_axis = Axis::cyclic(far + extent + dice.between(0, 50), block, parts, first).sub(far, far + extent);
    for (Index part = 0; part < parts; ++part) {
      std::vector<Segment> near_segments;
      std::vector<Segment> far_segments;
      near_axis.for_each_segment(part, [&](const Segment& segment) { near_segments.push_back(segment); });
      far_axis.for_each_segment(part, [&](const Segment& segment) { far_segments.push_back(segment); });
      ASSERT_EQ(far_segments, near_segments);
      ASSERT_EQ(far_axis.skipped_before(part), rounds * block);
    }
    for (Index i = 0; i < extent; ++i) ASSERT_EQ(far_axis.piece_at(i), near_axis.piece_at(i));
  }
}

}  // namespace
}  // namespace plait::test
