#include "plait/layout/overlay.hpp"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(AxisOverlay, ListsWhatASourcePartSharesWithEachTargetPart) {
  // source 00 11 00 11 00    part 0 holds 0 1 4 5 8 9
  // target 000 111 000 1     part 0 holds 0 1 2 6 7 8, part 1 holds 3 4 5 9
  const auto overlay = AxisOverlay::of_source(Axis::cyclic(10, 2, 2), 0, Axis::cyclic(10, 3, 2));
  ASSERT_EQ(overlay.size(), 2);
  EXPECT_EQ(overlay[0].part, 0);
  EXPECT_EQ(overlay[0].length, 3);
  EXPECT_THAT(overlay[0].runs, ElementsAre(layout::Run{0, 0, 0, 2}, layout::Run{8, 4, 5, 1}));
  EXPECT_EQ(overlay[1].part, 1);
  EXPECT_EQ(overlay[1].length, 3);
  EXPECT_THAT(overlay[1].runs, ElementsAre(layout::Run{4, 2, 1, 2}, layout::Run{9, 5, 3, 1}));
}

TEST(AxisOverlay, ListsWhatATargetPartSharesWithEachSourcePart) {
  const auto overlay = AxisOverlay::of_target(Axis::cyclic(10, 2, 2), Axis::cyclic(10, 3, 2), 1);
  ASSERT_EQ(overlay.size(), 2);
  EXPECT_THAT(overlay[0].runs, ElementsAre(layout::Run{4, 2, 1, 2}, layout::Run{9, 5, 3, 1}));
  EXPECT_THAT(overlay[1].runs, ElementsAre(layout::Run{3, 1, 0, 1}));
}

TEST(AxisOverlay, JoinsWhatIsSideBySideInBothStoragesThoughNotInTheAxis) {
  const auto overlay = AxisOverlay::of_source(Axis::cyclic(12, 2, 2), 0, Axis::cyclic(12, 2, 2, 1));
  ASSERT_EQ(overlay.size(), 1);
  EXPECT_EQ(overlay[0].part, 1);
  EXPECT_THAT(overlay[0].runs, ElementsAre(layout::Run{0, 0, 0, 6}));  // 0 1 4 5 8 9
}

TEST(AxisOverlay, OfEqualAxesIsOneRunWhateverTheirExtent) {
  const Axis axis = Axis::cyclic(Index{1} << 62, 3, 7, 2).sub(5, Index{1} << 61);
  const auto overlay = AxisOverlay::of_source(axis, 6, axis);
  ASSERT_EQ(overlay.size(), 1);
  EXPECT_EQ(overlay[0].part, 6);
  EXPECT_THAT(overlay[0].runs, ElementsAre(layout::Run{axis.global_of(6, 0), 0, 0, axis.local_extent(6)}));
}

TEST(AxisOverlay, WithASinglePartIsOneRunForEachSegmentOfTheOther) {
  const auto overlay = AxisOverlay::of_source(Axis::cyclic(10, 4, 1), 0, Axis::even(10, 2));
  ASSERT_EQ(overlay.size(), 2);
  EXPECT_THAT(overlay[0].runs, ElementsAre(layout::Run{0, 0, 0, 5}));
  EXPECT_THAT(overlay[1].runs, ElementsAre(layout::Run{5, 5, 0, 5}));
}

TEST(AxisOverlay, FindsPartsThatShareSomething) {
  const auto overlay = AxisOverlay::of_source(Axis::even(100, 2), 1, Axis::even(100, 10));
  EXPECT_EQ(overlay.size(), 5);
  EXPECT_EQ(overlay.find(5), 0);
  EXPECT_EQ(overlay.find(9), 4);
  EXPECT_EQ(overlay.find(4), -1);
  EXPECT_EQ(overlay.find(10), -1);
  EXPECT_EQ(overlay.find(-1), -1);
}

TEST(AxisOverlay, OfAnEmptyPartIsEmpty) {
  EXPECT_EQ(AxisOverlay::of_source(Axis::even(2, 5), 3, Axis::even(2, 5)).size(), 0);
  EXPECT_EQ(AxisOverlay::of_target(Axis::even(2, 2), Axis::cut({0, 0, 2}), 0).size(), 0);
  EXPECT_EQ(AxisOverlay::of_source(Axis::even(0, 1), 0, Axis::even(0, 3)).size(), 0);
}

TEST(AxisOverlay, KeepsItsRunsWhenItIsCopiedAndMoved) {
  auto first = AxisOverlay::of_source(Axis::even(100, 2), 1, Axis::even(100, 10));
  const AxisOverlay copy = first;
  const AxisOverlay moved = std::move(first);
  first = AxisOverlay::of_source(Axis::even(1, 1), 0, Axis::even(1, 1));
  EXPECT_THAT(copy[0].runs, ElementsAre(layout::Run{50, 0, 0, 10}));
  EXPECT_THAT(moved[0].runs, ElementsAre(layout::Run{50, 0, 0, 10}));
}

TEST(AxisOverlay, RefusesAxesOfDifferentExtentsAndMissingParts) {
  EXPECT_THAT(
      test::message_of<ShapeMismatch>([] { return AxisOverlay::of_source(Axis::even(5, 1), 0, Axis::even(6, 1)); }),
      HasSubstr("source has 5 elements along an axis and the target 6"));
  EXPECT_THAT(
      test::message_of<ArgumentError>([] { return AxisOverlay::of_target(Axis::even(5, 2), Axis::even(5, 3), 3); }),
      HasSubstr("the part is 3"));
  EXPECT_THAT(
      test::message_of<ArgumentError>([] { return AxisOverlay::of_target(Axis::even(5, 2), Axis::even(5, 2), -1); }),
      HasSubstr("the part is -1"));
}

}  // namespace
}  // namespace plait::layout
