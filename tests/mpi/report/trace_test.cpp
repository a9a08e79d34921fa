// What is recorded of runs on several ranks, against the counters and against what any recording must be like.
#include "plait/report/trace.hpp"

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/report/overlap.hpp"
#include "plait/report/trace_json.hpp"
#include "plait/report/traffic.hpp"

#include "cli/trace/trace_file.hpp"
#include "mpi/schedule/ring.hpp"
#include "mpi/schedule/words.hpp"
#include "support/watchdog.hpp"

namespace plait::test {
namespace {

using mpi::Operation;
using mpi::reduction;
using report::Message;
using report::Overlap;
using report::Trace;
using report::Tracing;
using schedule::NodeFlags;

constexpr Index strands = 3;
constexpr Index segments = 5;
constexpr Index count = 20000;  // words of a message

struct Traced : Ring {
  /// Each segment goes around by one rank, is added up and worked on; to be run with one input and one output.
  [[nodiscard]] Graph pipeline(const NodeFlags& flags) const {
    Graph graph(strands);
    const SlotId in = graph.input(count * word_bytes);
    const SlotId out = graph.output(count * word_bytes);
    const auto pool = graph.pool(count * word_bytes, strands * segments);
    OperationId last = graph.compute({}, 0, {});
    for (Index strand = 0; strand < strands; ++strand) {
      for (Index segment = 0; segment < segments; ++segment) {
        const SlotId staged = graph.staging(pool);
        const Index length = count - strand;
        graph.send({0, strand, segment}, right, words_of(in, 0, length));
        const OperationId arrived = graph.receive({0, strand, segment}, left, words_of(staged, 0, length));
        const OperationId added =
            graph.reduce_local({0, strand, segment}, words_of(staged, 0, length), words_of(out, 0, length),
                               words_of(out, 0, length), reduction<std::uint64_t>(Operation::sum()), {arrived, last});
        last = graph.compute({0, strand, segment}, 3,
                             [](const ThisRun& run, Index) {
                               std::this_thread::sleep_for(std::chrono::microseconds(300));
                               run.count_own_move(10);
                             },
                             {}, {added});
        for (int step = 0; step < 3; ++step) graph.writes_for(last, right, 1), graph.reads_from(last, left, 1);
      }
    }
    graph.signal({1, 0, 0}, flags, rank, 1, {last});
    graph.await({1, 0, 0}, flags, left);
    return graph;
  }

  void run(Schedule& schedule) {
    const Words mine = words_from(rank, count);
    Words sums(count, 0);
    const std::vector bindings{input(mine), output(sums)};
    schedule.start(bindings);
    schedule.wait();
  }
};

void expect_in_order(const Recording& recording) {
  for (const TimedRun& run : recording.runs) {
    EXPECT_GE(run.begin, 0);
    EXPECT_GE(run.end, run.begin);
  }
  for (const TimedOperation& op : recording.operations) {
    const TimedRun& run = recording.runs.at(static_cast<std::size_t>(op.run));
    EXPECT_FALSE(op.failed);
    EXPECT_GE(op.eligible, run.begin);
    EXPECT_LE(op.ended, run.end);
    if (op.kind == OperationKind::send || op.kind == OperationKind::receive) {
      EXPECT_GE(op.posting, op.eligible);
      EXPECT_GE(op.posted, op.posting);
      EXPECT_GE(op.ended, op.posted);
    } else {
      EXPECT_EQ(op.posting, never);
      EXPECT_GE(op.ended, op.eligible);
    }
  }
  Nanoseconds last = 0;
  for (const TimedWork& work : recording.work) {
    const TimedOperation& op = recording.operations.at(static_cast<std::size_t>(work.operation));
    EXPECT_TRUE(is_work(op.kind));
    EXPECT_GE(work.begin, op.eligible);
    EXPECT_GE(work.begin, last);  // one thing at a time
    EXPECT_GE(work.end, work.begin);
    EXPECT_LE(work.end, op.ended);
    last = work.end;
  }
  for (const auto& wait : recording.waits) {
    EXPECT_GE(wait.begin, recording.runs.at(static_cast<std::size_t>(wait.run)).begin);
    EXPECT_LE(wait.end, recording.runs.at(static_cast<std::size_t>(wait.run)).end);
    EXPECT_GE(wait.end, wait.begin);
  }
}

TEST_F(Traced, runs_have_every_message_at_both_ends_and_the_bytes_of_the_counters) {
  const NodeFlags flags(context, ranks);
  Schedule first(context, pipeline(flags), "first");
  const NodeFlags other_flags(context, ranks);
  Schedule second(context, pipeline(other_flags), "second");
  const Described described([&] { return first.describe() + second.describe(); });
  run(first);  // not recorded
  context.counters().clear();
  Tracing tracing(context);
  run(first);
  run(second);
  run(first);
  const Trace trace = tracing.gather();
  run(second);  // not recorded either

  EXPECT_EQ(context.timeline().take(), Recording{});
  const auto totals = report::gather_traffic(context, "first");
  const Overlap overlap = report::overlap_of(trace);
  if (rank != 0) {
    EXPECT_TRUE(trace.ranks.empty());
    return;
  }
  ASSERT_EQ(trace.ranks.size(), static_cast<std::size_t>(ranks));
  for (const auto& each : trace.ranks) {
    EXPECT_EQ(each.node, 0);
    EXPECT_EQ(each.recording.lost, 0);
    ASSERT_EQ(each.recording.runs.size(), 3U);
    EXPECT_EQ(each.recording.runs[0].label, "first");
    EXPECT_EQ(each.recording.runs[0].repetition, 2);
    EXPECT_EQ(each.recording.runs[1].label, "second");
    EXPECT_EQ(each.recording.runs[2].repetition, 3);
    expect_in_order(each.recording);
  }
  EXPECT_EQ(trace.clock_error, 0);  // one node, one clock

  const auto messages = report::messages_of(trace);
  EXPECT_EQ(messages.size(), static_cast<std::size_t>(3 * ranks * strands * segments));
  Traffic sent;
  for (const Message& message : messages) {
    ASSERT_TRUE(message.send != nullptr && message.receive != nullptr);
    EXPECT_EQ(message.to, (message.from + 1) % ranks);
    EXPECT_EQ(message.send->bytes, message.receive->bytes);
    EXPECT_EQ(message.send->bytes, (count - message.send->position[1]) * word_bytes);
    EXPECT_EQ(message.send->peer_class, PeerClass::node);
    EXPECT_GE(message.receive->ended, message.send->posting);
    sent += {1, message.send->bytes};
  }
  // Beside the messages, computations counted 45 shared pieces of a byte in every run of a rank.
  const Index pieces = 3 * strands * segments * ranks;
  Traffic counted = overlap.sum().traffic.sent_to(PeerClass::node);
  EXPECT_EQ(counted, (Traffic{sent.messages + 3 * pieces, sent.bytes + 3 * pieces}));
  EXPECT_EQ(overlap.sum().traffic.received_from(PeerClass::node), counted);
  EXPECT_EQ(overlap.sum().traffic.sent_to(PeerClass::self), (Traffic{0, 30 * pieces}));
  // "first" ran twice of three times.
  EXPECT_EQ(3 * totals.of(PeerClass::node).bytes, 2 * counted.bytes);

  Nanoseconds slept = 0;
  for (const auto& each : overlap.ranks) {
    EXPECT_LE(each.hidden, each.under_way);
    EXPECT_LE(each.hidden, each.computing);
    EXPECT_LE(each.computing, each.running);
    EXPECT_GT(each.posting, 0);
    slept += each.computing;
  }
  EXPECT_GE(slept, 3 * pieces * 300'000);
}

TEST_F(Traced, runs_are_written_as_json_and_read_again) {
  const NodeFlags flags(context, ranks);
  Schedule schedule(context, pipeline(flags), "written");
  Tracing tracing(context);
  run(schedule);
  const Trace trace = tracing.gather();
  if (rank != 0) return;
  const Trace read = cli::parse_trace(report::chrome_json(trace), "trace.json");
  ASSERT_EQ(read.ranks.size(), trace.ranks.size());
  for (std::size_t r = 0; r < read.ranks.size(); ++r) {
    EXPECT_EQ(read.ranks[r].recording.runs, trace.ranks[r].recording.runs);
    EXPECT_EQ(read.ranks[r].recording.waits, trace.ranks[r].recording.waits);
    EXPECT_EQ(read.ranks[r].recording.work.size(), trace.ranks[r].recording.work.size());
    // All but the join.
    EXPECT_EQ(read.ranks[r].recording.operations.size() + 1, trace.ranks[r].recording.operations.size());
  }
  EXPECT_EQ(report::overlap_of(read).ranks, report::overlap_of(trace).ranks);
}

// The message can't be taken to be over before the computation, which begins as soon as it is posted, ends.
TEST_F(Traced, computation_under_a_message_hides_it) {
  Graph graph = shift(1'000'000);
  graph.compute({}, 1, [](const ThisRun&, Index) { std::this_thread::sleep_for(std::chrono::milliseconds(40)); }, {},
                {});
  // At position {0, 0, 0} it comes before the messages are looked at again, but they are posted first.
  Schedule schedule(context, std::move(graph), "hidden");
  Tracing tracing(context);
  const Words mine = words_from(rank, 1'000'000);
  Words theirs(1'000'000);
  for (int repetition = 0; repetition < 2; ++repetition) {
    mpi::barrier(context.comm());
    schedule.start(std::vector{input(mine), output(theirs)});
    schedule.wait();
  }
  const Trace trace = tracing.gather();
  if (rank != 0) return;
  const Overlap overlap = report::overlap_of(trace);
  EXPECT_GT(overlap.hidden_share(), 0);
  EXPECT_LE(overlap.hidden_share(), 1);
}

TEST_F(Traced, a_failed_run_shows_what_did_not_travel) {
  Graph graph;
  const SlotId in = graph.input(word_bytes);
  const SlotId out = graph.output(word_bytes);
  const OperationId made = graph.compute({}, 1, [this](const ThisRun&, Index) {
    if (rank == 0) throw std::runtime_error("as wanted");
  });
  graph.send({1, 0, 0}, right, words_of(in, 0, 1), {made});
  graph.receive({1, 0, 0}, left, words_of(out, 0, 1));
  Schedule schedule(context, std::move(graph), "failing");
  Tracing tracing(context);
  const Words mine = words_from(rank, 1);
  Words theirs(1);
  schedule.start(std::vector{input(mine), output(theirs)});
  if (rank == 0) {
    EXPECT_THROW(schedule.wait(), std::runtime_error);
  } else if (rank == 1) {
    EXPECT_THROW(schedule.wait(), PeerFailed);
  } else {
    schedule.wait();
  }
  const Trace trace = tracing.gather();
  if (rank != 0) return;
  for (const Message& message : report::messages_of(trace)) {
    EXPECT_EQ(message.send->failed, message.from == 0);
    EXPECT_EQ(message.receive->failed, message.from == 0);
    EXPECT_EQ(message.send->bytes, message.from == 0 ? 0 : word_bytes);
    EXPECT_EQ(message.receive->bytes, message.send->bytes);
  }
}

TEST_F(Traced, runs_go_on_where_there_is_no_memory_to_record_them) {
  Schedule schedule(context, shift(10), "small");
  const Words mine = words_from(rank, 10);
  Words theirs(10);
  Tracing tracing(context, rank == 1 ? 0 : Timeline::default_bytes);
  schedule.start(std::vector{input(mine), output(theirs)});
  schedule.wait();
  EXPECT_EQ(theirs, words_from(left, 10));
  const Trace trace = tracing.gather();
  if (rank != 0) return;
  EXPECT_GT(trace.ranks[1].recording.lost, 0);
  EXPECT_TRUE(trace.ranks[1].recording.runs.empty());
  EXPECT_EQ(trace.ranks[2].recording.runs.size(), 1U);
  const Overlap overlap = report::overlap_of(trace);
  EXPECT_EQ(overlap.ranks[1].computing, 0);
}

TEST_F(Traced, a_run_under_way_can_not_be_gathered) {
  Schedule schedule(context, shift(10), "open");
  const Words mine = words_from(rank, 10);
  Words theirs(10);
  schedule.start(std::vector{input(mine), output(theirs)});  // the first run may compare graphs, which waits
  schedule.wait();
  Tracing tracing(context);
  if (rank == 2) schedule.start(std::vector{input(mine), output(theirs)});
  EXPECT_THROW(static_cast<void>(tracing.gather()), ArgumentError);
  if (rank != 2) schedule.start(std::vector{input(mine), output(theirs)});
  schedule.wait();
  const Trace trace = tracing.gather();
  if (rank != 0) return;
  EXPECT_EQ(trace.ranks[2].recording.runs.size(), 1U);
}

TEST_F(Traced, clocks_are_compared_within_the_error_that_is_told) {
  constexpr Nanoseconds ahead = 123'456'789;
  const int last = ranks - 1;
  if (rank != 0 && rank != last) return;
  const auto sample = report::compare_clocks(context.comm(), 0, last,
                                             [&] { return steady_nanoseconds() + (rank == last ? ahead : 0); });
  if (rank != 0) return;
  EXPECT_LE(std::abs(sample.ahead - ahead), sample.error);
  EXPECT_GT(sample.error, 0);
}

}  // namespace
}  // namespace plait::test
