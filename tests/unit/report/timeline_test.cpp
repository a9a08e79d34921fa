#include "plait/base/timeline.hpp"

#include <gtest/gtest.h>

#include "plait/report/trace.hpp"

#include "unit/report/small_trace.hpp"

namespace plait {
namespace {

struct Recorded : ::testing::Test {
  Timeline timeline;
  Index first = -1;
};

TEST_F(Recorded, adjacent_steps_of_an_operation_are_one_time_of_work) {
  timeline.start();
  static_cast<void>(timeline.open_run("a", 1, 2, first));
  timeline.worked(0, 1000, 2000);
  timeline.worked(0, 2999, 4000);
  timeline.worked(0, 5000, 6000);
  timeline.worked(1, 6000, 7000);
  timeline.close_run();
  EXPECT_EQ(timeline.take().work, (std::vector<TimedWork>{{0, 1000, 4000}, {0, 5000, 6000}, {1, 6000, 7000}}));
}

TEST_F(Recorded, a_wait_lasts_from_what_happened_last_until_a_communication_ends) {
  timeline.start();
  const Index run = timeline.open_run("a", 1, 1, first);
  timeline.was_idle_until(500);  // nobody waits
  EXPECT_EQ(timeline.wait_for(run), -1);
  timeline.happened(1000);
  timeline.was_idle_until(2000);
  timeline.happened(2500);  // shorter than what counts as a gap
  timeline.was_idle_until(4000);
  timeline.happened(7000);
  timeline.was_idle_until(9000);
  EXPECT_EQ(timeline.wait_for(-1), run);
  timeline.was_idle_until(99000);
  timeline.close_run();
  EXPECT_EQ(timeline.take().waits, (std::vector<TimedWait>{{run, 1000, 4000}, {run, 7000, 9000}}));
}

TEST_F(Recorded, what_there_is_no_memory_for_is_lost_and_counted) {
  timeline.start(2 * sizeof(TimedOperation) + sizeof(TimedRun) + 2);
  EXPECT_EQ(timeline.open_run("large", 1, 3, first), -1);
  EXPECT_EQ(timeline.open_run("a", 1, 2, first), 0);
  EXPECT_EQ(timeline.open_run("a", 2, 2, first), -1);
  timeline.worked(0, 1, 2);
  EXPECT_EQ(timeline.open_runs(), 1);
  timeline.close_run();
  const Recording recording = timeline.take();
  EXPECT_EQ(recording.lost, 3);
  ASSERT_EQ(recording.runs.size(), 1U);
  EXPECT_EQ(recording.runs[0].number, 1);
  EXPECT_EQ(recording.operations.size(), 2U);
  EXPECT_EQ(recording.work.size(), 0U);
}

TEST(RecordingBytes, come_back_as_they_were) {
  for (const report::RankTrace& rank : test::small_trace().ranks) {
    EXPECT_EQ(report::recording_of(report::bytes_of(rank.recording)), rank.recording);
  }
  EXPECT_EQ(report::recording_of(report::bytes_of({.lost = 7})), (Recording{.lost = 7}));
}

TEST(Clocks, that_drift_steadily_are_corrected_in_between) {
  // The other clock is 500 ahead at 1000 and 700 ahead at 3000.
  const report::ClockSample before{1000, 500, 3};
  const report::ClockSample after{3000, 700, 5};
  EXPECT_EQ(report::on_own_clock(1500, before, after), 1000);
  EXPECT_EQ(report::on_own_clock(1500, before, before), 1000);
  EXPECT_NEAR(static_cast<double>(report::on_own_clock(2600, before, after)), 2000, 12);
  EXPECT_NEAR(static_cast<double>(report::on_own_clock(3700, before, after)), 3000, 22);
}

}  // namespace
}  // namespace plait
