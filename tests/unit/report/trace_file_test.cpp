// What report/ writes and the command reads.
#include "cli/trace/trace_file.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/report/trace_json.hpp"

#include "cli/host/values.hpp"
#include "cli/trace/timeline.hpp"
#include "unit/report/small_trace.hpp"

namespace plait::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return place == std::string::npos ? text : text.replace(place, what.size(), by);
}

TEST(TraceFile, comes_back_as_it_was) {
  report::Trace trace = test::small_trace();
  EXPECT_EQ(parse_trace(report::chrome_json(trace), "t.json"), trace);

  trace.ranks[0].recording.lost = 3;
  trace.ranks[0].recording.operations[1].failed = true;
  TimedOperation request = trace.ranks[1].recording.operations[0];
  request.kind = OperationKind::request;
  request.peer = -1;
  request.bytes = 0;
  TimedOperation await = request;
  await.kind = OperationKind::await;
  await.posting = await.posted = never;
  trace.ranks[1].recording.operations.push_back(request);
  trace.ranks[1].recording.operations.push_back(await);
  EXPECT_EQ(parse_trace(report::chrome_json(trace), "t.json"), trace);
}

TEST(TraceFile, leaves_out_joins_and_what_never_ended) {
  const report::Trace trace = test::small_trace();
  report::Trace more = trace;
  auto& operations = more.ranks[1].recording.operations;
  TimedOperation broken = operations[0];
  broken.ended = never;
  operations.push_back(broken);
  operations.push_back({.eligible = 7000, .ended = 7000});
  EXPECT_EQ(parse_trace(report::chrome_json(more), "t.json"), trace);
}

TEST(TraceFile, may_have_any_label) {
  report::Trace trace = test::small_trace();
  for (report::RankTrace& rank : trace.ranks) rank.recording.runs[0].label = "a \"b\" \\ \n c";
  EXPECT_EQ(parse_trace(report::chrome_json(trace), "t.json"), trace);
}

TEST(TraceFile, that_is_none_or_damaged_is_refused_with_the_reason) {
  const std::string good = report::chrome_json(test::small_trace());
  const auto expect_refused = [](const std::string& text, const std::string& reason) {
    try {
      static_cast<void>(parse_trace(text, "t.json"));
      ADD_FAILURE() << "was read, where expected: " << reason;
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), StartsWith("t.json: "));
      EXPECT_THAT(error.what(), HasSubstr(reason));
    }
  };
  expect_refused("", "is no JSON, or truncated: parse error at line 1");
  expect_refused("# Hello", "is no JSON, or truncated");
  for (const std::size_t length : {good.size() / 3, good.size() / 2, good.size() - 4}) {
    expect_refused(good.substr(0, length), "is no JSON, or truncated: parse error at line ");
  }
  const std::string foreign = "is no trace of plait";
  expect_refused("3", foreign);
  expect_refused("[]", foreign);
  expect_refused("{}", foreign);
  expect_refused(R"([{"ph":"X"}])", foreign);
  expect_refused(R"({"traceEvents":[{"ph":"X","pid":0,"ts":1,"dur":2}]})", foreign);
  expect_refused(R"({"otherData":{"version":"My Application v1.0"},"traceEvents":[]})", foreign);
  expect_refused(replaced(good, "\"plait_trace\":1", "\"plait_trace\":2"), "is a trace of format 2, expected 1");
  expect_refused(replaced(good, "\"nodes\":[0,1]", "\"nodes\":[]"), "otherData has no nodes");
  expect_refused(replaced(good, "\"nodes\":[0,1]", "\"nodes\":[0,9]"), "otherData has more nodes than ranks");
  expect_refused(replaced(good, "\"ph\":\"X\",\"pid\":0", "\"ph\":\"X\",\"pid\":2"),
                 "has a pid that is no whole number from 0 to 1");
  expect_refused(replaced(good, "\"ph\":\"X\"", "\"ph\":\"i\""), "has the ph i, expected one of plait's");
  expect_refused(replaced(good, "\"dur\":", "\"duration\":"), "has no dur");
  expect_refused(replaced(good, "\"dur\":20.000", "\"dur\":-1"), "has a dur that is no number from 0");
  expect_refused(replaced(good, "\"dur\":20.000", "\"dur\":1e300"), "has a dur that is no number from 0");
  expect_refused(replaced(good, "\"peer\":1", "\"peer\":-1"), "has a peer that is no whole number");
  expect_refused(replaced(good, "\"peer\":1", "\"peer\":2"), "has a peer that is no whole number from 0 to 1");
  expect_refused(replaced(good, "\"ph\":\"e\"", "\"ph\":\"M\""), "demo <1> never ends");
  expect_refused(replaced(good, "\"ts\":60.000", "\"ts\":6.000"), "ends before it begins");
  expect_refused(replaced(good, "\"cat\":\"compute\"", "\"cat\":\"dream\""), "has the cat dream, expected compute");
  expect_refused(replaced(good, "\"kind\":\"send\",\"run\":0", "\"kind\":\"send\",\"run\":5"),
                 "names the run 5, which is not there");
  expect_refused(replaced(good, "\"kind\":\"send\"", "\"kind\":\"compute\""), "tell of no communication");
  expect_refused(replaced(good, "\"position\":[1,0,0]", "\"position\":[1,0]"), "is not [stage, strand, segment]");
}

TEST(TraceStrips, give_messages_that_are_under_way_together_lanes_of_their_own) {
  report::Trace trace = test::small_trace();
  auto& sends = trace.ranks[0].recording.operations;
  auto& receives = trace.ranks[1].recording.operations;
  for (int i = 0; i < 4; ++i) {
    sends.push_back(sends[1]);
    receives.push_back(receives[0]);
  }
  const auto strips = strips_of(trace, 3);
  EXPECT_EQ(strips[0].outgoing.size(), 3U);
  EXPECT_EQ(strips[0].incoming.size(), 0U);
  EXPECT_EQ(strips[1].incoming.size(), 3U);
  EXPECT_EQ(strips[0].outgoing[0].of(Mark::network), (std::vector<report::Interval>{{30000, 80000}}));
  EXPECT_EQ(strips[1].incoming[0].of(Mark::posted), (std::vector<report::Interval>{{5000, 30000}}));
  EXPECT_EQ(strips[0].outgoing[2].of(Mark::network).size(), 3U);
}

TEST(LinkRate, is_read_as_tc_takes_it_and_shown_for_people) {
  EXPECT_EQ(parse_link_rate("1gbit"), 1e9);
  EXPECT_EQ(parse_link_rate("2.5Gbit"), 2.5e9);
  EXPECT_EQ(parse_link_rate("200mbit"), 2e8);
  EXPECT_EQ(parse_link_rate("1000000000"), 1e9);
  EXPECT_EQ(parse_link_rate("64000bit"), 64000);
  for (const char* wrong : {"", "fast", "1gb", "-1gbit", "0", "nan", "1 gbit", "1ggbit", "1e30"}) {
    EXPECT_THROW(static_cast<void>(parse_link_rate(wrong)), ArgumentError) << wrong;
  }
  EXPECT_EQ(link_rate_text(1e9), "1 Gb/s");
  EXPECT_EQ(link_rate_text(2.5e9), "2.5 Gb/s");
  EXPECT_EQ(link_rate_text(2e8), "200 Mb/s");
  EXPECT_EQ(link_rate_text(5e4), "50 kb/s");
}

}  // namespace
}  // namespace plait::cli
