#include <limits>

#include <gtest/gtest.h>

#include "plait/report/overlap.hpp"
#include "plait/report/trace.hpp"

#include "unit/report/small_trace.hpp"

namespace plait::report {
namespace {

constexpr Nanoseconds origin = 5'000'000;

void shift(Nanoseconds& time, Nanoseconds by) {
  if (time != never) time += by;
}

/// The small trace three times, each `pause` after the one before, with numbers from 0 on.
Trace three_times(Nanoseconds pause) {
  Trace all = test::small_trace();
  const Trace once = all;
  all.origin = origin;
  for (Index n = 1; n < 3; ++n) {
    for (std::size_t r = 0; r < once.ranks.size(); ++r) {
      auto& to = all.ranks[r].recording;
      auto from = once.ranks[r].recording;
      const auto first = static_cast<Index>(to.operations.size());
      for (auto& run : from.runs) shift(run.begin, n * pause), shift(run.end, n * pause), run.number = n;
      for (TimedOperation& op : from.operations) {
        for (Nanoseconds* time : {&op.eligible, &op.posting, &op.posted, &op.ended}) shift(*time, n * pause);
        op.run = n;
      }
      for (auto& work : from.work) work = {work.operation + first, work.begin + n * pause, work.end + n * pause};
      for (auto& wait : from.waits) wait = {n, wait.begin + n * pause, wait.end + n * pause};
      to.runs.insert(to.runs.end(), from.runs.begin(), from.runs.end());
      to.operations.insert(to.operations.end(), from.operations.begin(), from.operations.end());
      to.work.insert(to.work.end(), from.work.begin(), from.work.end());
      to.waits.insert(to.waits.end(), from.waits.begin(), from.waits.end());
    }
  }
  return all;
}

TEST(PartOfATrace, HasTheRunsThatBeganInThatTimeAndBeginsAtZero) {
  constexpr Nanoseconds pause = 300'000;
  const Trace all = three_times(pause);
  const Trace part = part_of(all, origin + pause, origin + 2 * pause);
  EXPECT_EQ(part.origin, origin + pause);
  Trace once = test::small_trace();
  once.origin = part.origin;
  for (RankTrace& rank : once.ranks) rank.recording.runs[0].number = 1;
  EXPECT_EQ(part, once);
  EXPECT_EQ(overlap_of(part).span, overlap_of(once).span);
}

TEST(PartOfATrace, HasAllThatRanksDidInTheRunsWhenTheyBeganThem) {
  // Rank 1 begins the second run late, when rank 0 is in the third.
  Trace all = three_times(300'000);
  all.ranks[1].recording.runs[1].begin += 400'000;
  const Trace part = part_of(all, origin + 300'000, origin + 301'000);
  ASSERT_EQ(part.ranks[1].recording.runs.size(), 1);
  EXPECT_EQ(part.ranks[1].recording.runs[0].number, 1);
  EXPECT_EQ(part.ranks[1].recording.operations.size(), 3);
}

TEST(PartOfATrace, MayBeAllOrNothing) {
  Trace all = three_times(300'000);
  all.ranks[0].recording.lost = 7;
  EXPECT_EQ(part_of(all, 0, std::numeric_limits<Nanoseconds>::max()), all);
  const Trace none = part_of(all, 0, origin);
  ASSERT_EQ(none.ranks.size(), 2);
  EXPECT_TRUE(none.ranks[0].recording.runs.empty() && none.ranks[0].recording.operations.empty());
  EXPECT_EQ(none.ranks[0].recording.lost, 7);
  EXPECT_TRUE(part_of({}, 0, origin).ranks.empty());
}

}  // namespace
}  // namespace plait::report
