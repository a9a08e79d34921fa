#include "plait/simd/stores.hpp"

#include <gtest/gtest.h>

namespace plait::simd {
namespace {

TEST(Stores, AreStreamedAutomaticallyFromTheThresholdOn) {
  const Index threshold = streaming_threshold_bytes();
  EXPECT_GE(threshold, Index{2} << 20);
  EXPECT_LE(threshold, Index{64} << 20);
  EXPECT_FALSE(streams(Stores::automatic, 0));
  EXPECT_FALSE(streams(Stores::automatic, threshold - 1));
  EXPECT_TRUE(streams(Stores::automatic, threshold));
}

TEST(Stores, AreWhatTheCallerSaysWhateverTheSize) {
  for (const Index bytes : {Index{0}, Index{1} << 40}) {
    EXPECT_TRUE(streams(Stores::streaming, bytes));
    EXPECT_FALSE(streams(Stores::cached, bytes));
  }
}

}  // namespace
}  // namespace plait::simd
