// That a pipeline overlaps, seen in its trace: each of its operations begins before the one before has ended.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "plait/collective/pipeline.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/report/overlap.hpp"
#include "plait/report/trace.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::Group;
using collective::Pipeline;
using schedule::Binding;

constexpr Index n = 20'000;
constexpr Index segment_bytes = 4'000;  // of 160,000: 40 segments
constexpr auto work = std::chrono::microseconds(300);

/// From when on something was under way, and how long.
struct Span {
  Nanoseconds begin = never, end = 0;
  void include(Nanoseconds from, Nanoseconds to) {
    begin = begin == never ? from : std::min(begin, from);
    end = std::max(end, to);
  }
};

struct Spans {
  Span messages, computations;
};

Spans spans_of(const report::RankTrace& rank) {
  Spans spans;
  for (const TimedOperation& op : rank.recording.operations) {
    if (op.kind == OperationKind::send || op.kind == OperationKind::receive)
      spans.messages.include(op.posted, op.ended);
  }
  for (const TimedWork& one : rank.recording.work) {
    const TimedOperation& op = rank.recording.operations.at(static_cast<std::size_t>(one.operation));
    if (op.kind == OperationKind::compute) spans.computations.include(one.begin, one.end);
  }
  return spans;
}

// Along a row and a column of a 2 x 2 mesh, as a product of a matrix and a vector does.
TEST(PipelineTrace, ReductionBroadcastAndComputationOverlap) {
  mpi::Context context(test_comm());
  const int row = context.rank() / 2;
  const int column = context.rank() % 2;
  const auto sum = mpi::reduction<std::uint64_t>(mpi::Operation::sum());
  Pipeline pipeline(context, n, Index{sizeof(std::uint64_t)}, {.segment_bytes = segment_bytes});
  pipeline.reduce(Group(context, {2 * row, 2 * row + 1}), row, sum)
      .broadcast(Group(context, {column, column + 2}), column)
      .compute([](std::span<std::byte>, Index) { std::this_thread::sleep_for(work); });
  schedule::Schedule schedule = pipeline.schedule("matrix-vector");

  std::vector<std::uint64_t> data(static_cast<std::size_t>(n), 1);
  mpi::barrier(context.comm());
  report::Tracing tracing(context);
  const Binding binding = Binding::output(std::as_writable_bytes(std::span(data)));
  schedule.start({&binding, 1});
  schedule.wait();
  const report::Trace trace = tracing.gather();
  EXPECT_EQ(data, std::vector<std::uint64_t>(static_cast<std::size_t>(n), 2));
  if (context.rank() != 0) return;

  const report::Overlap overlap = report::overlap_of(trace);
  EXPECT_GT(overlap.hidden_share(), 0.1);
  for (const report::RankTrace& rank : trace.ranks) {
    const Spans spans = spans_of(rank);
    EXPECT_LT(spans.computations.begin, spans.messages.end) << "computes while messages are on their way";
    EXPECT_LT(spans.messages.begin, spans.computations.begin);
    const Nanoseconds first_message_ended =
        std::ranges::min(rank.recording.operations, {}, [](const TimedOperation& op) {
          return op.kind == OperationKind::receive ? op.ended : INT64_MAX;
        }).ended;
    EXPECT_LT(first_message_ended, spans.computations.end) << "and goes on with what has come";
  }
  // On the ranks of the diagonal the reduction comes in while the broadcast goes out.
  for (const int diagonal : {0, 3}) {
    Span in, out;
    for (const TimedOperation& op : trace.ranks[static_cast<std::size_t>(diagonal)].recording.operations) {
      if (op.kind == OperationKind::receive) in.include(op.posted, op.ended);
      if (op.kind == OperationKind::send) out.include(op.posted, op.ended);
    }
    EXPECT_LT(out.begin, in.end) << "rank " << diagonal << " broadcasts while it still reduces";
  }
}

}  // namespace
}  // namespace plait::test
