#include <vector>

#include <gtest/gtest.h>

#include "cli/host/command_line.hpp"

namespace plait::cli {
namespace {

const std::vector<std::string> known{"redistribute", "generate", "info", "--progress", "--per-rank", "--op", "-o"};

TEST(Spelling, a_slip_of_the_finger_is_understood) {
  EXPECT_EQ(nearest("redistibute", known), "redistribute");
  EXPECT_EQ(nearest("genreate", known), "generate");
  EXPECT_EQ(nearest("inof", known), "info");
  EXPECT_EQ(nearest("--pre-rank", known), "--per-rank");
  EXPECT_EQ(nearest("--opp", known), "--op");
}

TEST(Spelling, the_beginning_of_a_word_is_understood) {
  EXPECT_EQ(nearest("redis", known), "redistribute");
  EXPECT_EQ(nearest("--prog", known), "--progress");
}

TEST(Spelling, a_word_that_is_like_none_is_left_alone) {
  EXPECT_EQ(nearest("transpose", known), std::nullopt);
  EXPECT_EQ(nearest("--verbose", known), std::nullopt);
  EXPECT_EQ(nearest("", known), std::nullopt);
  EXPECT_EQ(nearest("info", {}), std::nullopt);
}

}  // namespace
}  // namespace plait::cli
