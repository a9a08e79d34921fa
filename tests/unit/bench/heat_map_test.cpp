#include "bench/harness/heat_map.hpp"

#include <gmock/gmock.h>

#include "example_report.hpp"

namespace plait::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

Report gated_report_of(std::initializer_list<std::pair<const char*, double>> cases) {
  Report report = example_report();
  report.records.clear();
  for (const auto& [name, fraction] : cases) {
    report.records.push_back(example_record());
    report.records.back().name = name;
    report.records.back().fraction_of_limit.median = fraction;
    report.records.back().gate = {0.85, {}};
  }
  return report;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(HeatMap, rows_are_grouped_by_the_first_word_that_differs_and_sizes_are_in_order) {
  const std::string svg = svg_heat_map(gated_report_of({{"reduce-local SUM f64 16K warm ranks=1", 0.91},
                                                        {"reduce-local SUM f64 64B warm ranks=1", 0.92},
                                                        {"reduce-local SUM int8 64B warm ranks=1", 0.93},
                                                        {"reduce-local MAX int8 64B warm ranks=1", 1.94}}));
  EXPECT_THAT(svg, HasSubstr(">reduce-local warm ranks=1: share of the limit's speed ("));
  EXPECT_EQ(count(svg, ">SUM</text>"), 1U);
  EXPECT_EQ(count(svg, ">MAX</text>"), 1U);
  EXPECT_EQ(count(svg, ">int8</text>"), 2U);
  EXPECT_LT(svg.find(">64B</text>"), svg.find(">16K</text>"));
  for (const char* number : {"0.91", "0.92", "0.93", "1.94"}) EXPECT_THAT(svg, HasSubstr(number));
}

TEST(HeatMap, missed_gates_are_framed) {
  const auto frames = [](double fraction) {
    return count(svg_heat_map(gated_report_of({{"a SUM f64 16K", fraction}})), "gate frame");
  };
  EXPECT_EQ(frames(0.84), 1U);
  EXPECT_EQ(frames(0.85), 0U);
}

TEST(HeatMap, cases_without_a_size_are_left_out) {
  const std::string svg =
      svg_heat_map(gated_report_of({{"tran f64 8x8 2x1>1x2 ranks=2", 0.5}, {"assign 2048 roles", 0.5}}));
  EXPECT_THAT(svg, Not(HasSubstr("tran f64")));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
}

}  // namespace
}  // namespace plait::bench
