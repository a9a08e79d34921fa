#include "bench/harness/plot.hpp"

#include <gmock/gmock.h>

#include "example_report.hpp"

namespace plait::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Plot, names_are_escaped) {
  const std::string svg = svg_plot(example_report());
  EXPECT_THAT(svg, HasSubstr("tran f64 8x8 2x1&gt;1x2 ranks=2"));
  EXPECT_THAT(svg, HasSubstr("CPU &lt;&amp;&gt; Co"));
}

TEST(Plot, a_bar_is_as_long_as_the_share_of_the_limit_that_it_shows) {
  // On an axis of 420 pixels that ends at the limit: half of it, and a sixth for the peer.
  const std::string svg = svg_plot(example_report());
  EXPECT_THAT(svg, HasSubstr("width=\"210.0\" height=\"14.0\""));
  EXPECT_THAT(svg, HasSubstr("width=\"70.0\" height=\"9.0\""));
  EXPECT_THAT(svg, HasSubstr("0.50, 3.0 times the peer"));
}

TEST(Plot, the_axis_reaches_to_what_beats_the_limit) {
  Report report = example_report();
  report.records[0].fraction_of_limit = {1.4, {1.3, 9}};
  EXPECT_THAT(svg_plot(report), HasSubstr(">1.50</text>"));
  EXPECT_THAT(svg_plot(report), Not(HasSubstr(">1.75</text>")));
}

TEST(Plot, a_bar_of_many_limits_is_cut_off) {
  Report report = example_report();
  report.records[0].fraction_of_limit = {600, {500, 700}};
  EXPECT_THAT(svg_plot(report), HasSubstr("width=\"420.0\" height=\"14.0\""));
  EXPECT_THAT(svg_plot(report), Not(HasSubstr(">3.25</text>")));
  EXPECT_THAT(svg_plot(report), HasSubstr("600.00, "));
}

TEST(Plot, a_report_without_cases_has_a_picture_too) {
  Report report = example_report();
  report.records.clear();
  EXPECT_THAT(svg_plot(report), testing::EndsWith("</svg>\n"));
}

}  // namespace
}  // namespace plait::bench
