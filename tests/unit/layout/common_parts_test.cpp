#include "plait/layout/common_parts.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "plait/layout/overlay.hpp"

#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::layout {
namespace {

using test::Random;
using test::uniform;

/// Any axis of this extent, often a range of a longer one.
Axis random_axis(Random& random, Index extent) {
  const Index before = uniform(random, 0, 1) * uniform(random, 0, 40);
  const Index whole = before + extent + uniform(random, 0, 1) * uniform(random, 0, 9);
  const Index parts = uniform(random, 1, uniform(random, 0, 1) == 0 ? 4 : 13);
  const Index kind = uniform(random, 0, 9);
  if (kind == 0) return Axis::even(whole, parts).sub(before, before + extent);
  if (kind == 1) {
    std::vector<Index> splits{0, whole};
    for (Index k = 1; k < parts; ++k) splits.push_back(uniform(random, 0, whole));
    std::sort(splits.begin(), splits.end());
    return Axis::cut(splits).sub(before, before + extent);
  }
  const Index block = uniform(random, 1, uniform(random, 0, 2) == 0 ? 40 : 6);
  return Axis::cyclic(whole, block, parts, uniform(random, 0, parts - 1)).sub(before, before + extent);
}

// Element by element.
std::vector<std::vector<Index>> counted(const Axis& a, const Axis& b) {
  std::vector<std::vector<Index>> common(static_cast<std::size_t>(a.parts()),
                                         std::vector<Index>(static_cast<std::size_t>(b.parts()), 0));
  for (Index x = 0; x < a.extent(); ++x) {
    ++common[static_cast<std::size_t>(a.part_of(x))][static_cast<std::size_t>(b.part_of(x))];
  }
  return common;
}

TEST(CommonParts, AreThoseOfEveryElement) {
  Random random(8);
  for (int round = 0; round < 3000; ++round) {
    const Index extent = uniform(random, 0, uniform(random, 0, 3) == 0 ? 1500 : 120);
    const Axis a = random_axis(random, extent);
    const Axis b = random_axis(random, extent);
    const auto expected = counted(a, b);
    Index pairs = 0;
    for (Index s = 0; s < a.parts(); ++s) {
      for (Index t = 0; t < b.parts(); ++t) {
        const Index length = expected[static_cast<std::size_t>(s)][static_cast<std::size_t>(t)];
        pairs += length > 0 ? 1 : 0;
        ASSERT_EQ(common_length(a, s, b, t), length) << "round " << round << " parts " << s << ", " << t;
      }
    }
    ASSERT_EQ(pairs_in_common(a, b), pairs)
        << "round " << round << ": blocks of " << a.block() << " on " << a.parts() << " from " << a.offset()
        << ", blocks of " << b.block() << " on " << b.parts() << " from " << b.offset() << ", extent " << extent;
  }
}

// Here blocks are short and a part has many, so that floors are summed.
TEST(CommonParts, OfManyShortBlocksAreThoseOfTheOverlay) {
  Random random(9);
  for (int round = 0; round < 20; ++round) {
    const Index extent = uniform(random, 40'000, 60'000);
    const Index period = round % 2 == 0 ? 251 : 83;  // a whole common one fits, or not
    const Axis a = Axis::cyclic(extent + 5, 1, period).sub(5, 5 + extent);
    const Axis b = Axis::cyclic(extent, uniform(random, 1, 2), period + 2, 1);
    for (int pair = 0; pair < 10; ++pair) {
      const Index s = uniform(random, 0, a.parts() - 1);
      const Index t = uniform(random, 0, b.parts() - 1);
      const AxisOverlay overlay = AxisOverlay::of_target(a, b, t);
      const Index at = overlay.find(s);
      EXPECT_EQ(common_length(a, s, b, t), at < 0 ? 0 : overlay[at].length);
    }
  }
}

TEST(CommonParts, OfPeriodsTooLongToWalkAreCountedAtOnce) {
  const Index extent = 1'000'000'000'000;
  const Axis a = Axis::cyclic(extent, 3, 10'000);
  const Axis b = Axis::cyclic(extent, 2, 9'999);
  Index sum = 0;
  for (Index s = 0; s < a.parts(); ++s) sum += common_length(a, s, b, 17);
  EXPECT_EQ(sum, b.local_extent(17));
  EXPECT_EQ(pairs_in_common(a, b), (3 + 2 - 1) * 10'000 * 9'999 / 6);  // 4 of the 6 residues
  const Axis longest = Axis::cyclic(INT64_MAX, 1, (Index{1} << 62) + 1);
  EXPECT_EQ(common_length(longest, 0, Axis::cyclic(INT64_MAX, 1, 2), 0), 1);
  EXPECT_EQ(common_length(longest, 0, Axis::cyclic(INT64_MAX, 1, 2), 1), 1);
}

}  // namespace
}  // namespace plait::layout
