#include "bench/harness/extent_plot.hpp"

#include <gmock/gmock.h>

#include "example_report.hpp"

namespace plait::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Cases that come to these shares of the limit, the peer to a third of them.
Report report_of(std::initializer_list<std::pair<const char*, double>> cases) {
  Report report = example_report();
  report.records.clear();
  for (const auto& [name, fraction] : cases) {
    report.records.push_back(example_record());
    Record& record = report.records.back();
    record.name = name;
    record.fraction_of_limit = {fraction, {fraction, fraction}};
    record.comparison->seconds = 3 * record.limit_seconds / fraction;
  }
  return report;
}

TEST(ExtentPlot, cases_that_differ_in_the_extent_alone_are_the_points_of_a_line) {
  // From 10 over 100 to 1000 across 250 pixels; 1 of the limit is 170 pixels high. The first panel begins at (76, 90).
  const std::string svg = svg_extent_plot(report_of({{"tran f64 1000x1000 1x1>1x1 ranks=1", 0.75},
                                                     {"tran f64 10x10 1x1>1x1 ranks=1", 0},
                                                     {"tran f64 100x100 1x1>1x1 ranks=1", 0.5}}));
  EXPECT_THAT(svg, HasSubstr(">tran f64 1x1&gt;1x1 ranks=1</text>"));
  EXPECT_THAT(svg, HasSubstr("d=\"M76.0 260.0L201.0 175.0L326.0 132.5\""));
  EXPECT_THAT(svg, HasSubstr("L201.0 231.7")) << "the peer's";
}

TEST(ExtentPlot, what_stands_alone_or_is_not_square_is_left_out) {
  const std::string svg = svg_extent_plot(report_of({{"tran f64 8x8 1x1>1x1 ranks=1", 1},
                                                     {"tran f64 16x16 1x1>1x1 ranks=1 ld=99", 1},
                                                     {"skinny f64 200x20 ranks=1", 1},
                                                     {"skinny f64 400x20 ranks=1", 1}}));
  EXPECT_THAT(svg, Not(HasSubstr("<path")));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
}

}  // namespace
}  // namespace plait::bench
