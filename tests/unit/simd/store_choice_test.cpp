#include "plait/simd/store_choice.hpp"

#include <gtest/gtest.h>

namespace {

using plait::Index;
using plait::simd::StoreChoice;
using plait::simd::Stores;

constexpr Index chunk = 1 << 18;
constexpr int slots = 4;

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

TEST(StoreChoice, TriesBothAndKeepsToWhatIsFaster) {
  StoreChoice where_streaming_wins(slots);
  EXPECT_EQ(streamed_of(where_streaming_wins, 200, 3e-5, 1e-5), 200 - 2 * slots);
  StoreChoice where_it_loses(slots);
  EXPECT_EQ(streamed_of(where_it_loses, 200, 1e-5, 3e-5), 2 * slots);
}

TEST(StoreChoice, DoesNotStreamForASmallGain) {
  StoreChoice choice(slots);
  EXPECT_EQ(streamed_of(choice, 200, 1.1e-5, 1e-5), 2 * slots);
}

TEST(StoreChoice, IsNotMisledByOneSlowChunk) {
  StoreChoice choice(slots);
  for (int i = 0; i < 4 * slots; ++i) {
    const bool streams = choice.next(chunk) == Stores::streaming;
    choice.took(chunk, i == 3 * slots ? 1.0 : streams ? 1e-5 : 3e-5);
  }
  EXPECT_EQ(choice.next(chunk), Stores::streaming);
}

TEST(StoreChoice, NoticesWhenItChanges) {
  StoreChoice choice(slots);
  streamed_of(choice, 5000, 1e-5, 3e-5);
  streamed_of(choice, 5000, 3e-5, 1e-5);
  EXPECT_GE(streamed_of(choice, 256 * slots, 3e-5, 1e-5), 256 * slots - 2 * slots);
}

// A chunk that is written as the one before it finds in the caches what that one left there, or did not.
TEST(StoreChoice, LooksAtChunksWhoseSlotsWereWrittenTheSameWay) {
  StoreChoice choice(slots);
  for (int i = 0; i < 4 * slots; ++i) {
    const bool streams = choice.next(chunk) == Stores::streaming;
    const bool first_round = i % (2 * slots) < slots;
    choice.took(chunk, first_round ? 1.0 : streams ? 1e-5 : 3e-5);
  }
  EXPECT_EQ(choice.next(chunk), Stores::streaming);
}

TEST(StoreChoice, LeavesShortChunksInTheCache) {
  StoreChoice choice(slots);
  for (int i = 0; i < 10 * slots; ++i) {
    EXPECT_EQ(choice.next(4096), Stores::cached);
    choice.took(4096, 1.0);
  }
}

}  // namespace
