#include "plait/layout/volumes.hpp"

#include <map>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/layout/text.hpp"

#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::layout {
namespace {

using test::Random;
using test::random_layout;
using test::uniform;

// Element by element.
std::map<std::pair<int, int>, Index> counted(const Layout& source, const Layout& target) {
  std::map<std::pair<int, int>, Index> volumes;
  for (Index i = 0; i < source.shape().rows; ++i) {
    for (Index j = 0; j < source.shape().columns; ++j) ++volumes[{source.owner_of(i, j), target.owner_of(i, j)}];
  }
  return volumes;
}

TEST(Volumes, AreThoseOfEveryElement) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const Shape shape{uniform(random, 0, 90), uniform(random, 0, 40)};
    const Layout source = random_layout(random, shape, 9);
    const Layout target = random_layout(random, shape, 9);
    SCOPED_TRACE(describe(source) + " to " + describe(target));
    const auto expected = counted(source, target);

    const Volumes volumes(source, target);
    std::map<std::pair<int, int>, Index> received;
    for (int rank = 0; rank < 9; ++rank) {
      for (const auto& [from, elements] : volumes.received_by(rank)) received[{from, rank}] = elements;
    }
    ASSERT_EQ(received, expected);
  }
}

TEST(Volumes, OfManyPeriodsOfCyclicAxesAreCountedInOne) {
  for (const Index extent : {Index{60}, Index{61}, Index{119}, Index{120}, Index{1207}}) {  // a period is 60
    const Layout source = Layout::block_cyclic({extent, 3}, 2, 1, Owners::grid(3, 1), 2).submatrix(0, 0, {extent, 3});
    const Layout target = Layout::block_cyclic({extent + 7, 3}, 5, 1, Owners::grid(4, 1)).submatrix(7, 0, {extent, 3});
    const auto expected = counted(source, target);
    const Volumes volumes(source, target);
    Index pairs = 0;
    for (int rank = 0; rank < 4; ++rank) {
      for (const auto& [from, elements] : volumes.received_by(rank)) {
        EXPECT_EQ(elements, expected.at({from, rank})) << extent;
        ++pairs;
      }
    }
    EXPECT_EQ(pairs, static_cast<Index>(expected.size())) << extent;
  }
}

TEST(Volumes, OfElementsBeyondCountingAreComputedAtOnce) {
  const Index extent = Index{1} << 61;
  const Layout source = Layout::block_cyclic({extent, 3}, 1, 1, Owners::grid(2, 1));
  const Layout target = Layout::block_cyclic({extent, 3}, 2, 1, Owners::grid(2, 1));
  const std::vector<Share> half{{0, extent / 4 * 3}, {1, extent / 4 * 3}};
  EXPECT_EQ(Volumes(source, target).received_by(0), half);
}

TEST(Volumes, OfNothingAreNothingHoweverLongASideIs) {
  const Shape shape{(Index{1} << 62) + 1, 0};
  const Volumes volumes(Layout::rows(shape, 2), Layout::block_cyclic(shape, 7, 7, Owners::grid(2, 2)));
  EXPECT_TRUE(volumes.received_by(0).empty());
  EXPECT_TRUE(volumes.received_by(1).empty());
}

TEST(Volumes, NeedTheSameShape) {
  EXPECT_THROW(Volumes(Layout::rows({4, 5}, 2), Layout::rows({5, 4}, 2)), ShapeMismatch);
}

}  // namespace
}  // namespace plait::layout
