#include "plait/base/stopwatch.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace {

TEST(Stopwatch, counts_seconds_from_its_start_and_restart) {
  plait::Stopwatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  const double before = watch.seconds();
  EXPECT_GE(before, 0.020);
  watch.restart();
  std::this_thread::sleep_for(std::chrono::milliseconds{1});
  EXPECT_GE(watch.seconds(), 0.001);
}

}  // namespace
