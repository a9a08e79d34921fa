// The lines that a log gets of a job's progress.
#include "cli/host/meter.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/mpi/context.hpp"

#include "support/ranks.hpp"

namespace {

using plait::cli::Meter;
using plait::mpi::Context;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

constexpr std::chrono::milliseconds longer_than_between_lines{3200};

TEST(Meter, tells_share_rate_and_time_left_on_rank_0_only) {
  Context context(plait::test::test_comm());
  CaptureStderr();
  {
    Meter meter(context, Meter::When::from_the_start);
    meter.stage("reading B.npy", 1000, 4'000'000);
    std::this_thread::sleep_for(longer_than_between_lines);
    if (const auto progress = meter.progress()) progress(500);
    meter.finish();
  }
  const std::string told = GetCapturedStderr();
  if (context.rank() != 0) {
    EXPECT_EQ(told, "");
    return;
  }
  // However long the sleep was, half of the bytes are left, and so is half of the time.
  EXPECT_THAT(
      told, testing::MatchesRegex("plait: [0-9.]+ s: reading B\\.npy, 4.00 MB\n"
                                  "plait: [0-9.]+ s: reading B\\.npy, 50 % of 4.00 MB, [0-9.]+ kB/s, [0-9]+ s left\n"));
}

TEST(Meter, tells_no_rate_of_what_has_not_begun) {
  Context context(plait::test::test_comm());
  CaptureStderr();
  {
    Meter meter(context, Meter::When::from_the_start);
    meter.stage("multiplying", 0, 0);
    meter.stage("writing C.npy", 1000, 1000);
  }
  const std::string told = GetCapturedStderr();
  if (context.rank() != 0) {
    EXPECT_EQ(told, "");
    return;
  }
  EXPECT_THAT(told, testing::MatchesRegex("plait: [0-9.]+ s: multiplying\n"
                                          "plait: [0-9.]+ s: writing C\\.npy, 1.00 kB\n"));
}

}  // namespace
