#include "bench/harness/report.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"

#include "example_report.hpp"

namespace plait::bench {
namespace {

using nlohmann::json;

TEST(Report, the_json_form_has_every_figure_and_every_sample) {
  const json report = json::parse(to_json(example_report()));
  EXPECT_EQ(report["schema"], "plait-bench-1");
  EXPECT_EQ(report["program"], "example");
  EXPECT_EQ(report["machine"], (json{{"cpu", "CPU <&> Co"}, {"cores", 2}, {"isa", "avx2"}}));
  const json& record = report["records"][0];
  EXPECT_EQ(record["case"], "tran f64 8x8 2x1>1x2 ranks=2");
  EXPECT_EQ(record["seconds"], 4);
  EXPECT_EQ(record["spread"], (json{4, 8}));
  EXPECT_EQ(record["limit_seconds"], 2);
  EXPECT_EQ(record["fraction_of_limit"], 0.5);
  EXPECT_EQ(record["peer"], "Rival");
  EXPECT_EQ(record["peer_seconds"], 12);
  EXPECT_EQ(record["speedup_over_peer"], 3);
  EXPECT_EQ(record["gate"], (json{{"fraction_of_limit", 0.25}, {"speedup_over_peer", 1.0}, {"met", true}}));
  EXPECT_EQ(record["aim"], (json{{"fraction_of_limit", 0.75}, {"met", false}}));
  EXPECT_EQ(record["samples"]["stream_copy"], (json{2, 2, 2}));
}

TEST(Report, what_was_not_there_is_null_and_not_left_out) {
  const json report = json::parse(to_json(example_report()));
  const json& record = report["records"][1];
  for (const char* key : {"peer", "peer_seconds", "speedup_over_peer", "speedup_over_peer_spread", "gate"}) {
    EXPECT_TRUE(record.at(key).is_null()) << key;
  }
}

TEST(Report, reading_gives_what_was_written) {
  EXPECT_EQ(from_json(to_json(example_report())), example_report());
  Report empty = example_report();
  empty.records.clear();
  EXPECT_EQ(from_json(to_json(empty)), empty);
}

TEST(Report, another_text_is_refused_with_a_reason) {
  EXPECT_THROW(static_cast<void>(from_json("{")), ArgumentError);
  EXPECT_THROW(static_cast<void>(from_json(R"({"schema": "plait-bench-1"})")), ArgumentError);
  try {
    static_cast<void>(from_json(R"({"schema": "other"})"));
    FAIL() << "another schema was read";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(R"(the schema is "other", expected "plait-bench-1")"));
  }
}

TEST(Report, merging_keeps_the_order_of_the_records) {
  Report other = example_report();
  other.records.resize(1);
  other.records[0].name = "other ranks=4";
  other.load_average = 2;  // of the first run
  const Report all = merged({example_report(), other});
  ASSERT_EQ(all.records.size(), 3U);
  EXPECT_EQ(all.records[2].name, "other ranks=4");
  EXPECT_EQ(all.machine, other.machine);
  EXPECT_EQ(all.load_average, 0.5);
}

TEST(Report, reports_that_do_not_belong_together_are_not_merged) {
  Report other = example_report();
  other.commit = "def";
  EXPECT_THROW(static_cast<void>(merged({example_report(), other})), ArgumentError);
}

TEST(Report, a_file_that_can_not_be_read_is_named) {
  try {
    static_cast<void>(read_report("/nowhere/at.json"));
    FAIL() << "it was read";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("/nowhere/at.json: "));
  }
}

}  // namespace
}  // namespace plait::bench
