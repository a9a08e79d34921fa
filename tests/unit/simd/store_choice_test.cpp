#include "plait/simd/store_choice.hpp"

#include <gtest/gtest.h>

namespace {

using plait::Index;
using plait::simd::StoreChoice;
using plait::simd::Stores;

constexpr Index chunk = 100'000;  // bytes, so that 1e-5 seconds are 0.1 ns a byte
constexpr int slots = 4;
constexpr Index memory = slots * chunk;
constexpr int most_between_trials = 300;

// How many of `chunks` were streamed where a chunk takes so long either way.
int streamed_of(StoreChoice& choice, int chunks, double cached_seconds, double streaming_seconds) {
  int streamed = 0;
  for (int i = 0; i < chunks; ++i) {
    const bool streams = choice.next(chunk) == Stores::streaming;
    streamed += streams ? 1 : 0;
    choice.took(chunk, streams ? streaming_seconds : cached_seconds);
  }
  return streamed;
}

TEST(StoreChoice, StreamsWhereOrdinaryStoresAreSlowAndTriesThemSeldom) {
  StoreChoice choice(memory);
  const int streamed = streamed_of(choice, 5000, 5e-5, 1e-5);
  EXPECT_LT(streamed, 5000);
  EXPECT_GE(streamed, 5000 - 5000 / 100);
}

TEST(StoreChoice, LeavesChunksInTheCacheWhereThatIsFast) {
  StoreChoice choice(memory);
  const int streamed = streamed_of(choice, 5000, 1e-5, 3e-5);
  EXPECT_GT(streamed, 2 * slots);
  EXPECT_LE(streamed, 5000 / 50);
}

TEST(StoreChoice, LeavesChunksInTheCacheWhereThatIsLittleSlower) {
  StoreChoice choice(memory);
  EXPECT_LE(streamed_of(choice, 5000, 1.4e-5, 1e-5), 5000 / 50);
}

// The reader can't save more than one of the passes over memory that streaming takes.
TEST(StoreChoice, StreamsWhereThatIsTwiceAsFastHoweverFastMemoryIs) {
  for (const double seconds : {1e-4, 1e-5, 1e-6}) {
    StoreChoice choice(memory);
    EXPECT_GE(streamed_of(choice, 5000, 2 * seconds, seconds), 5000 - 5000 / 100);
  }
}

TEST(StoreChoice, LearnsNothingFromMemoryThatNobodyHasReadYet) {
  StoreChoice choice(memory);
  ASSERT_EQ(streamed_of(choice, slots, 1e-5, 1e-3), slots);
  EXPECT_GE(streamed_of(choice, 200, 5e-5, 1e-5), 195);
}

TEST(StoreChoice, IsNotMisledByOneSlowChunk) {
  StoreChoice cached(memory);
  streamed_of(cached, 100, 1e-5, 1e-5);
  ASSERT_EQ(cached.next(chunk), Stores::cached);
  cached.took(chunk, 1.0);
  EXPECT_EQ(streamed_of(cached, 50, 1e-5, 1e-5), 0);

  StoreChoice on_trial(memory);
  for (int i = 0; on_trial.next(chunk) == Stores::streaming; ++i) {
    ASSERT_LT(i, most_between_trials);
    on_trial.took(chunk, 1e-5);
  }
  on_trial.took(chunk, 1.0);
  EXPECT_EQ(streamed_of(on_trial, 50, 1e-5, 1e-5), 0);
}

TEST(StoreChoice, NoticesAtOnceWhenOrdinaryStoresBecomeSlow) {
  StoreChoice choice(memory);
  streamed_of(choice, 300, 1e-5, 1e-5);
  EXPECT_GE(streamed_of(choice, 100, 5e-5, 1e-5), 95);
}

TEST(StoreChoice, NoticesInTheEndWhenTheyBecomeFast) {
  StoreChoice choice(memory);
  streamed_of(choice, 5000, 5e-5, 1e-5);
  streamed_of(choice, most_between_trials, 1e-5, 1e-5);
  EXPECT_EQ(streamed_of(choice, 100, 1e-5, 1e-5), 0);
}

TEST(StoreChoice, LeavesShortChunksInTheCache) {
  StoreChoice choice(memory);
  for (int i = 0; i < 10 * slots; ++i) {
    EXPECT_EQ(choice.next(4096), Stores::cached);
    choice.took(4096, 1.0);
  }
}

}  // namespace
