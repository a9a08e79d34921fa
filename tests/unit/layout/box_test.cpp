#include "plait/layout/box.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"

#include "support/message_of.hpp"

namespace plait::layout {
namespace {

using ::testing::HasSubstr;
using BoxParts = BoxPartition::Parts;

Box box_of(std::initializer_list<Index> extents) { return Box::of(std::vector<Index>(extents)); }

TEST(Box, HasExtentOneOnAxesThatItDoesNotUse) {
  EXPECT_EQ(box_of({7}), (Box{{0, 0, 0}, {1, 1, 7}}));
  EXPECT_EQ(box_of({5, 7}), (Box{{0, 0, 0}, {1, 5, 7}}));
  EXPECT_EQ(box_of({3, 5, 7}).points(), 105);
  EXPECT_TRUE(box_of({3, 0, 7}).is_empty());
}

TEST(Box, RefusesExtentsThatNoBoxHas) {
  EXPECT_THAT(test::message_of<ArgumentError>([] { return box_of({}); }), HasSubstr("extents: there are 0"));
  EXPECT_THAT(test::message_of<ArgumentError>([] { return box_of({1, 2, 3, 4}); }), HasSubstr("there are 4"));
  EXPECT_THAT(test::message_of<ArgumentError>([] { return box_of({3, -1}); }), HasSubstr("-1"));
  const Index many = Index{1} << 31;
  EXPECT_THAT(test::message_of<ArgumentError>([&] { return box_of({many, many, many}); }),
              HasSubstr("too many points"));
}

TEST(Box, MeetsAnotherInThePointsThatAreInBoth) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::uint64_t draws = 0;
    const auto draw = [&] { return static_cast<Index>(random_bits(seed, draws++) % 6); };
    Box a, b;
    for (Box* box : {&a, &b}) {
      box->low = {draw(), draw(), draw()};
      box->high = {box->low[0] + draw(), box->low[1] + draw(), box->low[2] + draw()};
    }
    Index common = 0;
    for_each_point(a, [&](const Point& p) {
      common += b.contains(p) ? 1 : 0;
      EXPECT_EQ(a.intersection(b).contains(p), b.contains(p));
    });
    EXPECT_EQ(a.intersection(b).points(), common);
  }
}

TEST(Box, CountsOffsetsInTheOrderOfMemory) {
  const Box box{{2, -1, 3}, {4, 2, 7}};
  Index next = 0;
  for_each_point(box, [&](const Point& p) { EXPECT_EQ(box.offset_of(p), next++); });
  EXPECT_EQ(box.grown({1, 0, 2}), (Box{{1, -1, 1}, {5, 2, 9}}));
  EXPECT_TRUE((Box{{2, 2, 2}, {2, 3, 3}}.grown({1, 1, 1}).is_empty()));
}

TEST(BoxPartition, GivesEachPointToTheRankWhoseBoxHasIt) {
  for (const auto& [extents, parts, ranks] : std::vector<std::tuple<Box, BoxParts, int>>{
           {box_of({11}), {1, 1, 3}, 3},
           {box_of({2}), {1, 1, 5}, 5},
           {box_of({5, 7}), {1, 2, 3}, 9},
           {box_of({3, 4, 5}), {2, 1, 4}, 8},
           {box_of({3, 0, 5}), {2, 2, 1}, 4},
       }) {
    const BoxPartition partition(extents, parts, ranks);
    std::vector<int> owners(at(extents.points()), -1);
    int with_parts = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto part = partition.part_of(rank);
      with_parts += part ? 1 : 0;
      EXPECT_EQ(part ? partition.rank_of(*part) : rank, rank);
      for_each_point(partition.box(rank), [&, extents = extents](const Point& p) {
        int& owner = owners[at(extents.offset_of(p))];
        EXPECT_EQ(owner, -1);
        owner = rank;
        EXPECT_EQ(partition.owner_of(p), rank);
      });
    }
    EXPECT_EQ(with_parts, partition.number_of_parts());
    EXPECT_EQ(std::ranges::count(owners, -1), 0);
  }
}

TEST(BoxPartition, CutsForRanksSoThatNoneHasMuchMoreThanItsShare) {
  EXPECT_EQ(BoxPartition::for_ranks(box_of({100, 100}), 4).parts(), (BoxParts{1, 2, 2}));
  EXPECT_EQ(BoxPartition::for_ranks(box_of({64, 64, 64}), 8).parts(), (BoxParts{2, 2, 2}));
  EXPECT_EQ(BoxPartition::for_ranks(box_of({1000, 10}), 6).parts(), (BoxParts{1, 6, 1}));
  EXPECT_EQ(BoxPartition::for_ranks(box_of({5}), 16).parts(), (BoxParts{1, 1, 5}));
  EXPECT_EQ(BoxPartition::for_ranks(box_of({100, 100}), 16, 1).parts(), (BoxParts{1, 1, 1}));
  for (int ranks = 1; ranks <= 40; ++ranks) {
    const BoxPartition partition = BoxPartition::for_ranks(box_of({97, 89}), ranks);
    Index most = 0;
    for (int rank = 0; rank < ranks; ++rank) most = std::max(most, partition.box(rank).points());
    EXPECT_LE(static_cast<double>(most), 1.3 * 97 * 89 / ranks) << ranks;
  }
}

TEST(BoxPartition, GivesCoarsePointsToTheOwnersOfTheFineOnes) {
  for (const Index first : {0, 1}) {
    for (Index n = 1; n <= 20; ++n) {
      for (int parts = 1; parts <= 5; ++parts) {
        const BoxPartition fine(box_of({4, n}), {1, 1, parts}, 7);
        const BoxPartition coarse = fine.coarsened({{false, false, true}, {0, 0, first}});
        EXPECT_EQ(coarse.whole(), box_of({4, (n - first + 1) / 2}));
        for_each_point(coarse.whole(), [&](const Point& p) {
          EXPECT_EQ(coarse.owner_of(p), fine.owner_of({p[0], p[1], 2 * p[2] + first}));
        });
      }
    }
  }
}

TEST(BoxPartition, NamesWhatIsWrong) {
  EXPECT_THAT(test::message_of<ArgumentError>([] { BoxPartition(box_of({4}), {1, 1, 0}, 1); }), HasSubstr("parts"));
  EXPECT_THAT(test::message_of<ArgumentError>([] { BoxPartition(box_of({4}), {1, 1, 3}, 2); }), HasSubstr("2 ranks"));
  EXPECT_THAT(test::message_of<ArgumentError>([] { BoxPartition(box_of({4}).shifted({0, 0, 1}), {1, 1, 1}, 2); }),
              HasSubstr("whole: begins at 0, 0, 1"));
  EXPECT_THAT(
      test::message_of<ArgumentError>([] { BoxPartition(BoxPartition::Splits{{{0, 1}, {0, 1}, {0, 3, 2}}}, 2); }),
      HasSubstr("0, 3, 2"));
}

TEST(AxisRuns, BringEachPointOfAPartAndOfItsGhostLayersOnce) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::uint64_t draws = 0;
    const auto draw = [&](Index below) {
      return static_cast<Index>(random_bits(seed, draws++) % static_cast<std::uint64_t>(below));
    };
    const Index extent = 1 + draw(9), width = draw(12);
    const bool is_periodic = draw(2) == 1;
    std::array<std::vector<Index>, 2> splits;
    for (std::vector<Index>& axis : splits) {
      axis = {0, extent};
      for (Index more = draw(5); more > 0; --more) axis.push_back(draw(extent + 1));
      std::ranges::sort(axis);
    }
    std::set<std::pair<int, Index>> seen;
    for (const AxisRun& run : axis_runs(splits[0], splits[1], width, is_periodic)) {
      const Index begin = splits[1][at(run.target_part)], end = splits[1][at(run.target_part) + 1];
      ASSERT_GT(run.length, 0);
      for (Index i = 0; i < run.length; ++i) {
        const Index target = run.target + i, source = run.source + i;
        EXPECT_TRUE(seen.emplace(run.target_part, target).second) << "seed " << seed;
        EXPECT_EQ(((target % extent) + extent) % extent, source);
        EXPECT_TRUE(source >= splits[0][at(run.source_part)] && source < splits[0][at(run.source_part) + 1]);
        EXPECT_EQ(run.is_ghost, target < begin || target >= end);
      }
    }
    std::size_t wanted = 0;
    for (std::size_t part = 0; part + 1 < splits[1].size(); ++part) {
      if (splits[1][part] == splits[1][part + 1]) continue;
      for (Index i = splits[1][part] - width; i < splits[1][part + 1] + width; ++i) {
        wanted += is_periodic || (i >= 0 && i < extent) ? 1U : 0U;
      }
    }
    EXPECT_EQ(seen.size(), wanted) << "seed " << seed;
  }
}

}  // namespace
}  // namespace plait::layout
