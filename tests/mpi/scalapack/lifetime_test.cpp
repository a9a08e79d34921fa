// What the library keeps: it goes with the process grids, and stays within bounds.
#include <malloc.h>

#include <chrono>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/index.hpp"

#include "tests/mpi/scalapack/random_case.hpp"

namespace plait::test {
namespace {

/// A copy between two grids of all processes; the number of wrong elements of this one.
int wrong_after_copy(const ProcessGrid& from, const ProcessGrid& to, const ProcessGrid& all, int n, int round) {
  LocalArray<double> a(from, {n, n, 3, 2, 0, 0, 0});
  a.for_each([&](int i, int j, double& value) { value = exact<double>(round, i, j); });
  LocalArray<double> b(to, {n, n, 2, 4, 0, 0, 0});
  plait_Cpdgemr2d(n, n, a.data(), 1, 1, a.descriptor(), b.data(), 1, 1, b.descriptor(), all.context());
  int wrong = 0;
  b.for_each([&](int i, int j, double& value) { wrong += value == exact<double>(round, i, j) ? 0 : 1; });
  return wrong;
}

Index bytes_in_use() {
  const auto info = mallinfo2();
  return static_cast<Index>(info.uordblks + info.hblkhd);
}

// BLACS uses the numbers of contexts again, and MPI the handles of communicators. On one rank, where it costs little,
// the library would use up those that MPICH has (2,046) if it left its own behind.
TEST(Lifetime, OfAGridsDataIsThatOfTheGrid) {
  RandomNumbers random(3);
  int wrong = 0;
  for (int round = 0; round < rounds(ranks() == 1 ? 1100 : 8); ++round) {
    std::vector<int> any = ordered(1, ranks(), 'R');
    std::shuffle(any.begin(), any.end(), random);
    const ProcessGrid all(1, ranks(), any);
    std::shuffle(any.begin(), any.end(), random);
    const ProcessGrid upright(ranks(), 1, any);
    wrong += wrong_after_copy(upright, all, all, 13, round);
    wrong += wrong_after_copy(all, upright, all, 13, round);
  }
  EXPECT_EQ(wrong, 0);
}

// A program may have nearly as many grids at a time as it has with ScaLAPACK alone: MPICH has communicators for about
// 500. On one rank, where it costs little.
TEST(Lifetime, OfManyGridsAtATimeLeavesTheProgramItsCommunicators) {
  const ProcessGrid all(1, ranks(), ordered(1, ranks(), 'R'));
  std::vector<std::unique_ptr<ProcessGrid>> grids;
  int wrong = 0;
  for (int count = 0; count < (ranks() == 1 ? 440 : 4); ++count) {
    grids.push_back(std::make_unique<ProcessGrid>(ranks(), 1, ordered(ranks(), 1, 'R')));
    wrong += wrong_after_copy(all, *grids.back(), *grids.back(), 9, count);
  }
  for (const auto& grid : grids) wrong += wrong_after_copy(*grid, all, *grid, 9, 1);
  EXPECT_EQ(wrong, 0);
}

// Plans move their data through the same memory in turn, of which the larger ones want more, and have more messages
// than it has room for.
TEST(Lifetime, OfMemoryForDataUnderWayIsThatOfAllPlansThatUseItInTurn) {
  const ProcessGrid all(1, ranks(), ordered(1, ranks(), 'R'));
  const ProcessGrid upright(ranks(), 1, ordered(ranks(), 1, 'C'));
  int wrong = 0;
  for (int round = 0; round < 2; ++round) {
    for (const int n : {13, 2100, 200, 1500, 2100, 13, 800}) {
      wrong += wrong_after_copy(all, upright, all, n, round);
      wrong += wrong_after_copy(upright, all, upright, n, round + 1);
    }
  }
  EXPECT_EQ(wrong, 0);
}

// 100,000 calls, or as many as can be made in the time; now and then of more kinds than plans are kept.
TEST(Lifetime, OfPlansIsBounded) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(1);
  const ProcessGrid all(1, ranks(), ordered(1, ranks(), 'R'));
  const ProcessGrid upright(ranks(), 1, ordered(ranks(), 1, 'C'));
  Index early = 0;
  int wrong = 0;
  int calls = 0;
  for (int batch = 0, more = 1; more != 0 && calls < 100000; ++batch) {
    const int kinds = batch < 3 || batch % 50 == 0 ? 80 : 20;
    for (int k = 0; k < 50; ++k, ++calls) wrong += wrong_after_copy(all, upright, all, 1 + calls % kinds, batch);
    if (batch == 3) early = bytes_in_use();
    more = batch < 5 || Clock::now() < end ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, test_comm());
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(calls, 250);
  EXPECT_LT(bytes_in_use() - early, Index{1} << 20) << "in " << calls << " calls";
}

}  // namespace
}  // namespace plait::test
