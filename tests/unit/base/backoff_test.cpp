#include "plait/base/backoff.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#include <gtest/gtest.h>

namespace {

/// What a rank that waits asks of the system while one of these lives; nothing of it is done.
class Recorded {
 public:
  Recorded() { current = this; }
  ~Recorded() { current = nullptr; }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  int yields = 0;
  std::vector<long> sleeps;  // nanoseconds

  static Recorded* current;
};
Recorded* Recorded::current = nullptr;

}  // namespace

// In place of the C library's.
extern "C" int sched_yield() noexcept {
  if (Recorded::current != nullptr) ++Recorded::current->yields;
  return 0;
}
extern "C" int nanosleep(const timespec* duration, timespec* left) {
  if (Recorded::current == nullptr) return clock_nanosleep(CLOCK_MONOTONIC, 0, duration, left);
  Recorded::current->sleeps.push_back(duration->tv_sec * 1'000'000'000 + duration->tv_nsec);
  return 0;
}

namespace {

using plait::Backoff;
constexpr long longest = std::chrono::nanoseconds(Backoff::longest_sleep).count();

void idle(Backoff& backoff, int polls) {
  for (int i = 0; i < polls; ++i) backoff.idle();
}

TEST(Backoff, sleeps_for_longer_the_longer_it_waits) {
  Backoff backoff;
  Recorded recorded;
  idle(backoff, 64);
  EXPECT_EQ(recorded.yields, 0);
  idle(backoff, 64);
  EXPECT_EQ(recorded.yields, 64);
  EXPECT_TRUE(recorded.sleeps.empty());
  idle(backoff, 300);
  EXPECT_EQ(recorded.yields, 64);
  ASSERT_EQ(recorded.sleeps.size(), 300U);
  EXPECT_EQ(recorded.sleeps.front(), 10'000);
  EXPECT_TRUE(std::is_sorted(recorded.sleeps.begin(), recorded.sleeps.end()));
  EXPECT_EQ(recorded.sleeps.back(), longest);
}

TEST(Backoff, never_sleeps_for_longer_than_its_longest_sleep) {
  Backoff backoff;
  Recorded recorded;
  idle(backoff, 100'000);
  EXPECT_LE(*std::max_element(recorded.sleeps.begin(), recorded.sleeps.end()), longest);
}

TEST(Backoff, begins_with_spinning_again_after_a_reset) {
  Backoff backoff;
  Recorded recorded;
  idle(backoff, 150);
  const auto sleeps = recorded.sleeps.size();
  backoff.reset();
  idle(backoff, 64);
  EXPECT_EQ(recorded.yields, 64);
  EXPECT_EQ(recorded.sleeps.size(), sleeps);
}

// The last one, as what it tells the process holds for good.
TEST(Backoff, stays_awake_for_longer_where_each_rank_has_a_core) {
  Backoff::share_cores(false);
  Recorded recorded;
  Backoff backoff;
  idle(backoff, 64 + 4096);
  EXPECT_EQ(recorded.yields, 4096);
  EXPECT_TRUE(recorded.sleeps.empty());
  idle(backoff, 1);
  EXPECT_EQ(recorded.sleeps.size(), 1U);

  Backoff::share_cores(true);
  Backoff::share_cores(false);
  recorded.yields = 0;
  recorded.sleeps.clear();
  Backoff other;
  idle(other, 64 + 64 + 1);
  EXPECT_EQ(recorded.yields, 64);
  EXPECT_EQ(recorded.sleeps.size(), 1U);
}

}  // namespace
