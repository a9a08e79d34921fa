#include "plait/report/overlap.hpp"

#include <gtest/gtest.h>

#include "unit/report/small_trace.hpp"

namespace plait::report {
namespace {

constexpr Nanoseconds us = 1000;

// The numbers are those of a drawing by hand.
TEST(Overlap, counts_what_was_computed_while_messages_were_under_way) {
  const Overlap overlap = overlap_of(test::small_trace());
  ASSERT_EQ(overlap.ranks.size(), 2U);
  EXPECT_EQ(overlap.span, 110 * us);
  // Both had posted the message at 30, and it was there at 80.
  for (const RankOverlap& rank : overlap.ranks) EXPECT_EQ(rank.under_way, 50 * us);
  EXPECT_EQ(overlap.ranks[0].hidden, 40 * us);
  EXPECT_EQ(overlap.ranks[1].hidden, 10 * us);
  EXPECT_DOUBLE_EQ(overlap.hidden_share(), 0.5);
}

TEST(Overlap, tells_how_a_rank_spent_its_time) {
  const Overlap overlap = overlap_of(test::small_trace());
  const RankOverlap& first = overlap.ranks[0];
  EXPECT_EQ(first.running, 100 * us);
  EXPECT_EQ(first.computing, 70 * us);
  EXPECT_EQ(first.posting, 2 * us);
  EXPECT_EQ(first.waiting, 10 * us);
  EXPECT_EQ(first.rest(), 18 * us);
  EXPECT_EQ(overlap.ranks[1].waiting, 64 * us);
  EXPECT_EQ(overlap.ranks[1].computing, 30 * us);
  EXPECT_EQ(overlap.sum().posting, 3 * us);
  EXPECT_EQ(overlap.sum().traffic.sent_to(PeerClass::network), (Traffic{1, 2500}));
}

TEST(Overlap, compares_a_link_with_its_rate) {
  const Overlap overlap = overlap_of(test::small_trace());
  ASSERT_EQ(overlap.links.size(), 2U);
  EXPECT_EQ(overlap.links[0], (LinkUse{{2500, 0}, {50 * us, 0}}));
  EXPECT_EQ(overlap.links[1], (LinkUse{{0, 2500}, {0, 50 * us}}));
  EXPECT_DOUBLE_EQ(achieved_share(overlap.links[0], 1e9), 0.4);
  EXPECT_EQ(achieved_share(overlap.links[0], 0), 0);
  EXPECT_EQ(achieved_share({}, 1e9), 0);
}

TEST(Overlap, leaves_out_what_a_rank_sends_to_itself_and_what_stays_in_a_node) {
  Trace trace = test::small_trace();
  trace.ranks[1].node = 0;
  Overlap overlap = overlap_of(trace);
  ASSERT_EQ(overlap.links.size(), 1U);
  EXPECT_EQ(overlap.links[0], LinkUse{});
  EXPECT_EQ(overlap.ranks[0].under_way, 50 * us);

  trace.ranks[0].recording.operations[1].peer = 0;
  trace.ranks[1].recording.operations[0].peer = 1;
  overlap = overlap_of(trace);
  EXPECT_EQ(overlap.sum().under_way, 0);
  EXPECT_EQ(overlap.hidden_share(), 0);
}

TEST(Overlap, takes_what_one_end_knows_where_the_other_was_lost) {
  Trace trace = test::small_trace();
  trace.ranks[1].recording = {.lost = 4};
  const Overlap overlap = overlap_of(trace);
  EXPECT_EQ(overlap.ranks[0].under_way, 30 * us);
  EXPECT_EQ(overlap.ranks[0].hidden, 20 * us);
  EXPECT_EQ(overlap.ranks[1], RankOverlap{});
}

TEST(Overlap, matches_the_messages_of_one_position_in_their_order) {
  Trace trace = test::small_trace();
  auto& sends = trace.ranks[0].recording.operations;
  auto& receives = trace.ranks[1].recording.operations;
  sends.push_back(sends[1]);
  receives.push_back(receives[0]);
  sends[3].posting = 85 * us;
  receives[3].ended = 95 * us;
  const Overlap overlap = overlap_of(trace);
  EXPECT_EQ(overlap.ranks[0].under_way, 60 * us);
  EXPECT_EQ(overlap.ranks[0].hidden, 45 * us);
  EXPECT_EQ(overlap.links[0].bytes[0], 5000);
}

TEST(Overlap, counts_a_request_from_its_posting_to_its_end) {
  Trace trace = test::small_trace();
  TimedOperation& op = trace.ranks[0].recording.operations[1];
  op.kind = OperationKind::request;
  op.peer = -1;
  trace.ranks[1].recording = {};
  const Overlap overlap = overlap_of(trace);
  EXPECT_EQ(overlap.ranks[0].under_way, 30 * us);
  EXPECT_EQ(overlap.ranks[0].hidden, 20 * us);
  EXPECT_EQ(overlap.links[0], LinkUse{});
}

TEST(Overlap, of_nothing_is_nothing) {
  const Overlap overlap = overlap_of({});
  EXPECT_EQ(overlap.span, 0);
  EXPECT_EQ(overlap.hidden_share(), 0);
}

}  // namespace
}  // namespace plait::report
