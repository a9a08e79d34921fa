#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "cli/host/values.hpp"
#include "support/message_of.hpp"

namespace plait::cli {
namespace {

TEST(ByteCount, units_are_powers_of_1024) {
  EXPECT_EQ(parse_byte_count("0"), 0);
  EXPECT_EQ(parse_byte_count("4096"), 4096);
  EXPECT_EQ(parse_byte_count("3K"), 3 * 1024);
  EXPECT_EQ(parse_byte_count("64M"), Index{64} << 20);
  EXPECT_EQ(parse_byte_count("64MiB"), Index{64} << 20);
  EXPECT_EQ(parse_byte_count("2G"), Index{2} << 30);
  EXPECT_EQ(parse_byte_count("5T"), Index{5} << 40);
}

TEST(ByteCount, units_with_a_b_alone_are_powers_of_1000) {
  EXPECT_EQ(parse_byte_count("3KB"), 3000);
  EXPECT_EQ(parse_byte_count("64MB"), 64'000'000);
  EXPECT_EQ(parse_byte_count("9TB"), 9'000'000'000'000);
}

TEST(ByteCount, anything_else_is_refused_by_its_text) {
  for (const char* text : {"", "M", "-1", "1.5G", "64B", "64MBs", "64m", "64 M", "64Mi", "64MiBx",
                           "9223372036854775808", "9223372036854775807K", "9300000000GB", "0x10"}) {
    EXPECT_THAT(test::message_of<ArgumentError>([&] { return parse_byte_count(text); }),
                testing::HasSubstr(std::string("'") + text + "'"))
        << text;
  }
}

}  // namespace
}  // namespace plait::cli
