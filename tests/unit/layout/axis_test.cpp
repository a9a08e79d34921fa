#include "plait/layout/axis.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Index largest = std::numeric_limits<Index>::max();

std::vector<Segment> segments(const Axis& axis, Index part) {
  std::vector<Segment> result;
  axis.for_each_segment(part, [&](const Segment& segment) { result.push_back(segment); });
  return result;
}

TEST(Axis, DealsBlocksInTurn) {
  const Axis axis = Axis::cyclic(10, 3, 2);  // 000 111 000 1
  EXPECT_THAT(segments(axis, 0), ElementsAre(Segment{0, 0, 3}, Segment{6, 3, 3}));
  EXPECT_THAT(segments(axis, 1), ElementsAre(Segment{3, 0, 3}, Segment{9, 3, 1}));
  EXPECT_EQ(axis.local_extent(0), 6);
  EXPECT_EQ(axis.local_extent(1), 4);
  EXPECT_EQ(axis.part_of(8), 0);
  EXPECT_EQ(axis.local_of(8), 5);
  EXPECT_EQ(axis.global_of(0, 5), 8);
  EXPECT_EQ(axis.piece_at(7), (Piece{0, {6, 3, 3}}));
}

TEST(Axis, BeginsToDealAtTheFirstPart) {
  const Axis axis = Axis::cyclic(10, 3, 3, 2);  // 222 000 111 2
  EXPECT_THAT(segments(axis, 0), ElementsAre(Segment{3, 0, 3}));
  EXPECT_THAT(segments(axis, 1), ElementsAre(Segment{6, 0, 3}));
  EXPECT_THAT(segments(axis, 2), ElementsAre(Segment{0, 0, 3}, Segment{9, 3, 1}));
}

TEST(Axis, HasOneSegmentIfThereIsOnePart) {
  EXPECT_THAT(segments(Axis::cyclic(10, 3, 1), 0), ElementsAre(Segment{0, 0, 10}));
  EXPECT_THAT(segments(Axis::cyclic(10, 3, 1).sub(4, 9), 0), ElementsAre(Segment{0, 0, 5}));
}

TEST(Axis, GivesTheFirstEvenPartsOneElementMore) {
  const Axis axis = Axis::even(10, 4);  // 000 111 22 33
  EXPECT_THAT(segments(axis, 0), ElementsAre(Segment{0, 0, 3}));
  EXPECT_THAT(segments(axis, 1), ElementsAre(Segment{3, 0, 3}));
  EXPECT_THAT(segments(axis, 2), ElementsAre(Segment{6, 0, 2}));
  EXPECT_THAT(segments(axis, 3), ElementsAre(Segment{8, 0, 2}));
}

TEST(Axis, LeavesEvenPartsEmptyThatGetNothing) {
  const Axis axis = Axis::even(2, 4);
  EXPECT_THAT(segments(axis, 1), ElementsAre(Segment{1, 0, 1}));
  EXPECT_THAT(segments(axis, 2), IsEmpty());
  EXPECT_EQ(axis.local_extent(3), 0);
}

TEST(Axis, CutsWhereItIsTold) {
  const Axis axis = Axis::cut({0, 0, 4, 4, 7});  // parts 0 and 2 are empty
  EXPECT_EQ(axis.extent(), 7);
  EXPECT_EQ(axis.parts(), 4);
  EXPECT_THAT(segments(axis, 0), IsEmpty());
  EXPECT_THAT(segments(axis, 1), ElementsAre(Segment{0, 0, 4}));
  EXPECT_THAT(segments(axis, 2), IsEmpty());
  EXPECT_THAT(segments(axis, 3), ElementsAre(Segment{4, 0, 3}));
  EXPECT_EQ(axis.part_of(0), 1);
  EXPECT_EQ(axis.part_of(4), 3);
  EXPECT_EQ(axis.local_of(6), 2);
}

TEST(Axis, NumbersARangeFromZeroAndKeepsTheParts) {
  const Axis range = Axis::cyclic(20, 3, 3).sub(4, 14);  // of 000 111 222 000 111 222 00:  11 222 000 11
  EXPECT_EQ(range.extent(), 10);
  EXPECT_THAT(segments(range, 0), ElementsAre(Segment{5, 0, 3}));
  EXPECT_THAT(segments(range, 1), ElementsAre(Segment{0, 0, 2}, Segment{8, 2, 2}));
  EXPECT_THAT(segments(range, 2), ElementsAre(Segment{2, 0, 3}));
  EXPECT_EQ(range.skipped_before(0), 3);
  EXPECT_EQ(range.skipped_before(1), 1);
  EXPECT_EQ(range.skipped_before(2), 0);
  EXPECT_EQ(range.global_of(1, 3), 9);
}

TEST(Axis, TakesARangeOfARangeAsOne) {
  const Axis axis = Axis::cyclic(1000, 7, 4, 3);
  EXPECT_EQ(axis.sub(100, 900).sub(50, 300).sub(1, 2), axis.sub(151, 152));
  EXPECT_EQ(axis.sub(0, 1000), axis);
}

TEST(Axis, SkipsNothingIfNothingWasTaken) {
  for (const Axis& axis : {Axis::cyclic(50, 4, 3, 1), Axis::even(50, 3), Axis::cut({0, 20, 50, 50})}) {
    for (Index part = 0; part < 3; ++part) EXPECT_EQ(axis.skipped_before(part), 0);
  }
}

TEST(Axis, HoldsNothingIfItsExtentIsZero) {
  for (const Axis& axis : {Axis::cyclic(0, 4, 3), Axis::even(0, 3), Axis::cut({0, 0, 0, 0}),
                           Axis::cyclic(50, 4, 3).sub(17, 17), Axis::even(50, 3).sub(50, 50)}) {
    for (Index part = 0; part < 3; ++part) {
      EXPECT_EQ(axis.local_extent(part), 0);
      EXPECT_THAT(segments(axis, part), IsEmpty());
    }
  }
}

TEST(Axis, IsEqualToWhatHoldsTheSameElementsAtTheSamePlaces) {
  EXPECT_EQ(Axis::cyclic(100, 8, 3).sub(0, 50), Axis::cyclic(50, 8, 3));
  EXPECT_EQ(Axis::cut({0, 3, 9}), Axis::cut({0, 3, 9}));
  EXPECT_NE(Axis::cut({0, 3, 9}), Axis::cut({0, 4, 9}));
  EXPECT_NE(Axis::cyclic(50, 8, 3), Axis::cyclic(50, 8, 3, 1));
  EXPECT_NE(Axis::cyclic(100, 8, 2).sub(16, 100), Axis::cyclic(84, 8, 2));  // it skips what the other has not
  EXPECT_NE(Axis::even(100, 4).sub(0, 50), Axis::even(50, 4));
}

TEST(Axis, TellsAnOriginalThatItIsARangeOf) {
  const Axis cyclic = Axis::cyclic(100, 8, 3, 2).sub(10, 60);
  EXPECT_EQ(Axis::cyclic(cyclic.original_extent(), cyclic.block(), cyclic.parts(), cyclic.first_part())
                .sub(cyclic.offset(), cyclic.offset() + cyclic.extent()),
            cyclic);
  const Axis even = Axis::even(100, 8).sub(10, 60);
  EXPECT_EQ(Axis::even(even.original_extent(), 8).sub(even.offset(), even.offset() + even.extent()), even);
  EXPECT_EQ(Axis::cut({0, 30, 90}).sub(1, 40).original_extent(), 90);
}

TEST(Axis, CountsBlocksLongerThanItself) {
  for (const Index block : {Index{10}, Index{11}, largest / 2, largest}) {
    const Axis axis = Axis::cyclic(10, block, 3, 1);
    EXPECT_THAT(segments(axis, 1), ElementsAre(Segment{0, 0, 10}));
    EXPECT_THAT(segments(axis, 0), IsEmpty());
    EXPECT_EQ(axis.piece_at(9), (Piece{1, {0, 0, 10}}));
  }
}

TEST(Axis, CountsTheLargestNumbers) {
  for (const Index parts : {Index{1}, Index{2}, Index{1} << 40, largest}) {
    for (const Index first_part : {Index{0}, parts / 2, parts - 1}) {
      for (const Index block : {(Index{1} << 61) + 1, largest}) {
        const Axis axis = Axis::cyclic(largest, block, parts, first_part).sub(3, largest);
        const Index last = axis.extent() - 1;
        for (const Index global : {Index{0}, last / 3, last}) {
          const Index part = axis.part_of(global);
          EXPECT_EQ(axis.global_of(part, axis.local_of(global)), global);
          Index held = 0;
          axis.for_each_segment(part, [&](const Segment& segment) { held += segment.length; });
          EXPECT_EQ(held, axis.local_extent(part));
        }
      }
    }
    const Axis even = Axis::even(largest, parts);
    EXPECT_EQ(even.part_of(largest - 1), parts - 1);
    EXPECT_EQ(even.global_of(parts - 1, even.local_extent(parts - 1) - 1), largest - 1);
  }
}

TEST(Axis, SharesATrillionElementsOutInClosedForm) {
  const Index extent = (Index{1} << 40) + 12345;
  for (const Axis& axis : {Axis::cyclic(extent, 37, 1000, 999), Axis::even(extent, 1000)}) {
    Index sum = 0;
    for (Index part = 0; part < axis.parts(); ++part) sum += axis.local_extent(part);
    EXPECT_EQ(sum, extent);
    const Index part = axis.part_of(extent / 3);
    EXPECT_EQ(axis.global_of(part, axis.local_of(extent / 3)), extent / 3);
  }
}

TEST(Axis, RefusesNumbersThatCannotBe) {
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::cyclic(-1, 1, 1); }),
              HasSubstr("the extent is -1, expected at least 0"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::cyclic(5, 0, 1); }),
              HasSubstr("the block is 0, expected at least 1"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::cyclic(5, 1, 0); }),
              HasSubstr("the number of parts is 0, expected at least 1"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::cyclic(5, 1, 2, 2); }),
              HasSubstr("the first block is 2, expected one of the 2 parts 0 to 1"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::cyclic(5, 1, 2, -1); }),
              HasSubstr("the first block is -1, expected one of the 2 parts"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::even(-7, 1); }), HasSubstr("the extent is -7"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::even(7, -2); }), HasSubstr("the number of parts is -2"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::cut({}); }),
              HasSubstr("there are 0 splits, expected at least 2"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::cut({0}); }), HasSubstr("there are 1 splits"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::cut({1, 2}); }), HasSubstr("split 0 is 1, expected 0"));
  EXPECT_THAT(test::message_of<LayoutError>([] { return Axis::cut({0, 5, 4}); }),
              HasSubstr("split 2 is 4, expected at least split 1, which is 5"));
}

TEST(Axis, RefusesPartsAndElementsThatItHasNot) {
  const Axis axis = Axis::cyclic(10, 3, 2);
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return axis.local_extent(2); }),
              HasSubstr("the part is 2, expected one of the 2 parts 0 to 1"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return axis.skipped_before(-1); }), HasSubstr("the part is -1"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { axis.for_each_segment(2, [](const Segment&) {}); }),
              HasSubstr("the part is 2"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return axis.part_of(10); }),
              HasSubstr("the index is 10, expected at least 0 and less than 10"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return axis.local_of(-1); }), HasSubstr("the index is -1"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return axis.piece_at(10); }), HasSubstr("the index is 10"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return axis.global_of(1, 4); }),
              HasSubstr("the local index is 4, expected at least 0 and less than 4"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return axis.sub(3, 11); }),
              HasSubstr("the range is [3, 11), expected a part of [0, 10)"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return axis.sub(3, 2); }), HasSubstr("the range is [3, 2)"));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return axis.sub(-1, 2); }), HasSubstr("the range is [-1, 2)"));
}

}  // namespace
}  // namespace plait::layout
