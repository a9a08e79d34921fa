#include "bench/harness/table.hpp"

#include <gmock/gmock.h>

#include "example_report.hpp"

namespace plait::bench {
namespace {

TEST(Table, seconds_have_three_digits_and_the_unit_that_suits_them) {
  EXPECT_EQ(seconds_text(123.4), "123 s");
  EXPECT_EQ(seconds_text(0.99951), "1.00 s");
  EXPECT_EQ(seconds_text(0.0123), "12.3 ms");
  EXPECT_EQ(seconds_text(4.5e-6), "4.50 us");
  EXPECT_EQ(seconds_text(4.5e-7), "450 ns");
  EXPECT_EQ(seconds_text(0), "0.00 us");
}

TEST(Table, a_line_tells_the_figures_in_the_columns_of_the_head) {
  const std::string head = table_head();
  const std::string line = table_line(example_record());
  EXPECT_THAT(line, testing::StartsWith("tran f64 8x8 2x1>1x2 ranks=2 "));
  EXPECT_EQ(line.find("0.50 [0.25, 0.50]"), head.find("limit / plait"));
  EXPECT_EQ(line.find("3.00 [1.50, 3.00]"), head.find("peer / plait"));
  EXPECT_EQ(line.find("met"), head.find("gate"));
  EXPECT_EQ(line.find("missed"), head.find("aim"));
}

TEST(Table, costs_of_results_end_a_line) {
  EXPECT_THAT(table_line(example_record()), testing::EndsWith("  cost: plait 6, Rival 8, other 5\n"));
}

TEST(Table, what_was_not_there_is_a_dash) {
  Record record = example_record(false);
  record.gate = {};
  EXPECT_EQ(verdict(record, record.gate), "-");
  EXPECT_EQ(table_line(record).find("-"), table_head().find("peer") + 3) << table_line(record);
}

}  // namespace
}  // namespace plait::bench
