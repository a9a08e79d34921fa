// What a plan costs must follow what a part owns, never the extent or the number of parts. The clock of a busy machine
// can't tell; the bytes that were asked for and the runs that were found can.

#include <gtest/gtest.h>

#include "plait/layout/layout.hpp"
#include "plait/layout/overlay.hpp"

#include "support/allocated_bytes.hpp"

namespace plait::layout {
namespace {

struct Cost {
  std::size_t bytes = 0;
  std::size_t runs = 0;
};

/// The cost of what a rank that is part `part` of both axes needs to know to send and to receive.
Cost cost(const Axis& source, const Axis& target, Index part) {
  const std::size_t before = test::allocated_bytes();
  Cost cost;
  for (const auto& shared : AxisOverlay::of_source(source, part, target)) cost.runs += shared.runs.size();
  for (const auto& shared : AxisOverlay::of_target(source, target, part)) cost.runs += shared.runs.size();
  cost.bytes = test::allocated_bytes() - before;
  return cost;
}

void expect_no_dearer(const Cost& larger, const Cost& smaller) {
  EXPECT_GT(smaller.runs, 0U);
  EXPECT_LE(larger.runs, 2 * smaller.runs);
  EXPECT_LE(larger.bytes, 2 * smaller.bytes);
}

TEST(AxisOverlayCost, DoesNotGrowWithTheExtentIfBlocksGrowAlike) {
  const Index n = 100'003;
  for (const Index part : {0, 1, 3}) {
    expect_no_dearer(cost(Axis::cyclic(10 * n, 320, 4), Axis::cyclic(10 * n, 1280, 4, 2), part),
                     cost(Axis::cyclic(n, 32, 4), Axis::cyclic(n, 128, 4, 2), part));
    expect_no_dearer(cost(Axis::cyclic(10 * n, 320, 4), Axis::even(10 * n, 4), part),
                     cost(Axis::cyclic(n, 32, 4), Axis::even(n, 4), part));
  }
}

TEST(AxisOverlayCost, DoesNotGrowWithTheExtentIfPartsGrowAlike) {
  const Index n = 100'003;
  for (const Index part : {0, 1, 3}) {
    expect_no_dearer(cost(Axis::cyclic(10 * n, 32, 80), Axis::cyclic(10 * n, 128, 80), part),
                     cost(Axis::cyclic(n, 32, 8), Axis::cyclic(n, 128, 8), part));
    expect_no_dearer(cost(Axis::cyclic(10 * n, 32, 80), Axis::even(10 * n, 80), part),
                     cost(Axis::cyclic(n, 32, 8), Axis::even(n, 8), part));
    expect_no_dearer(cost(Axis::even(10 * n, 80), Axis::even(10 * n, 70), part),
                     cost(Axis::even(n, 8), Axis::even(n, 7), part));
  }
}

TEST(AxisOverlayCost, IsThatOfOnePartAmongABillion) {
  const Index parts = 1'000'000'000;
  const Index extent = 16 * parts + 5;
  const Cost found = cost(Axis::even(extent, parts), Axis::cyclic(extent, 4, parts, 77), 12345);
  EXPECT_LE(found.runs, 10U);
  EXPECT_LE(found.bytes, 5000U);
}

TEST(AxisOverlayCost, OfAListedAxisFollowsTheSegmentsThatCross) {
  std::vector<Index> splits(100'001);
  for (std::size_t i = 0; i < splits.size(); ++i) splits[i] = static_cast<Index>(i) * 10;
  const Axis listed = Axis::cut(splits);
  const Cost found = cost(listed, Axis::even(listed.extent(), 50'000), 777);
  EXPECT_LE(found.runs, 10U);
  EXPECT_LE(found.bytes, 5000U);
}

TEST(LayoutCost, OfAClosedFormIsTheSameForEveryShape) {
  const auto bytes = [](Shape shape, Index grid_rows) {
    const std::size_t before = test::allocated_bytes();
    const Layout layout = Layout::block_cyclic(shape, 32, 32, Owners::grid(grid_rows, 32)).submatrix(5, 5, {99, 99});
    EXPECT_EQ(layout.transposed().tiles_of(3).size(), 1U);
    EXPECT_GE(layout.elements_of(3), 0);
    return test::allocated_bytes() - before;
  };
  EXPECT_EQ(bytes({1000, 1000}, 32), bytes({Index{1} << 40, Index{1} << 20}, 32'000));
}

}  // namespace
}  // namespace plait::layout
