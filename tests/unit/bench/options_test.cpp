#include "bench/harness/options.hpp"

#include <gmock/gmock.h>

namespace plait::bench {
namespace {

std::variant<Options, Message> parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "bench_example");
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), "example", "An example");
}

TEST(Options, each_is_told_to_the_benchmark) {
  const auto result =
      parsed({"--quick", "--json", "a.json", "--plot", "a.svg", "--extent-plot", "b.svg", "--filter", "ranks=2$",
              "--repetitions", "7", "--gate", "--commit", "abc", "--merge", "b.json", "c.json"});
  const auto* options = std::get_if<Options>(&result);
  ASSERT_NE(options, nullptr);
  EXPECT_TRUE(options->quick);
  EXPECT_TRUE(options->gate);
  EXPECT_EQ(options->json, "a.json");
  EXPECT_EQ(options->plot, "a.svg");
  EXPECT_EQ(options->extent_plot, "b.svg");
  EXPECT_EQ(options->repetitions, 7);
  EXPECT_EQ(options->commit, "abc");
  ASSERT_TRUE(options->filter);
  EXPECT_TRUE(std::regex_search("gemr2d ranks=2", *options->filter));
  EXPECT_FALSE(std::regex_search("gemr2d ranks=24", *options->filter));
  EXPECT_THAT(options->merge, testing::ElementsAre("b.json", "c.json"));
}

TEST(Options, help_is_no_failure_and_a_mistake_is_one) {
  const auto status = [](const auto& result) { return std::get<Message>(result).status; };
  EXPECT_EQ(status(parsed({"--help"})), 0);
  EXPECT_EQ(status(parsed({"--quik"})), 2);
  EXPECT_EQ(status(parsed({"--repetitions", "0"})), 2);
  EXPECT_EQ(status(parsed({"--filter", "("})), 2);
}

}  // namespace
}  // namespace plait::bench
