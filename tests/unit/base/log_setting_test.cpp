#include "plait/base/log_setting.hpp"

#include <gtest/gtest.h>

namespace {

using plait::parse_log_setting;

TEST(LogSettings, are_words_between_commas) {
  EXPECT_FALSE(parse_log_setting("").summary || parse_log_setting("").choices);
  EXPECT_TRUE(parse_log_setting("summary").summary);
  EXPECT_FALSE(parse_log_setting("summary").choices);
  const auto both = parse_log_setting("choices,summary");
  EXPECT_TRUE(both.summary && both.choices);
  EXPECT_EQ(both.complaint, "");
}

TEST(LogSettings, that_are_wrong_ask_for_nothing) {
  for (const char* const text : {"bogus", "summary,bogus", "choices,,summary", " summary"}) {
    const auto setting = parse_log_setting(text);
    EXPECT_FALSE(setting.summary || setting.choices) << text;
    EXPECT_EQ(setting.complaint, "environment variable PLAIT_LOG is '" + std::string(text) +
                                     "', expected 'summary', 'choices', both with a comma between them, or nothing");
  }
}

}  // namespace
