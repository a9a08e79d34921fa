#include "plait/base/backoff.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include <gtest/gtest.h>

namespace {

using plait::Backoff;
using Microseconds = std::chrono::duration<double, std::micro>;

double microseconds_of(Backoff& backoff, int polls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < polls; ++i) backoff.idle();
  return Microseconds(std::chrono::steady_clock::now() - begin).count();
}

// Lower bounds on sleeps hold whatever else the machine does; of upper bounds the best of several tries is taken.

TEST(Backoff, sleeps_for_longer_the_longer_it_waits) {
  Backoff backoff;
  microseconds_of(backoff, 128);
  EXPECT_GE(microseconds_of(backoff, 1), 10);
  microseconds_of(backoff, 100);
  EXPECT_GE(microseconds_of(backoff, 1), Microseconds(Backoff::longest_sleep).count());
}

TEST(Backoff, never_sleeps_for_much_longer_than_its_longest_sleep) {
  Backoff backoff;
  microseconds_of(backoff, 300);
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < 50; ++i) best = std::min(best, microseconds_of(backoff, 1));
  EXPECT_LT(best, 10 * Microseconds(Backoff::longest_sleep).count());
}

TEST(Backoff, begins_with_spinning_again_after_a_reset) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < 20; ++i) {
    Backoff backoff;
    microseconds_of(backoff, 150);
    backoff.reset();
    best = std::min(best, microseconds_of(backoff, 32));
  }
  EXPECT_LT(best, 32 * 10) << "microseconds for 32 polls, each of which would sleep for at least 10";
}

}  // namespace
