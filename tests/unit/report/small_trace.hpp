#pragma once

#include "plait/report/trace.hpp"

namespace plait::test {

/// Two ranks on two nodes, times in microseconds: rank 0 computes (10-30), sends 2500 bytes (posts 30-32), computes on
/// (40-90) and waits (90-100); rank 1 posts the receive at once, computes a little (50-60), has the data at 80 and
/// combines (80-100).
[[nodiscard]] inline report::Trace small_trace() {
  constexpr Nanoseconds us = 1000;
  const auto run = [](Nanoseconds end) {
    return TimedRun{.label = "demo <1>", .number = 0, .repetition = 1, .begin = 0, .end = end};
  };
  const auto work = [](OperationKind kind, Index stage, Nanoseconds eligible, Nanoseconds ended) {
    return TimedOperation{.kind = kind, .position = {stage, 0, 0}, .eligible = eligible, .ended = ended};
  };
  const auto message = [](OperationKind kind, int peer, Nanoseconds posting, Nanoseconds posted, Nanoseconds ended) {
    return TimedOperation{.kind = kind,
                          .peer_class = PeerClass::network,
                          .peer = peer,
                          .bytes = 2500,
                          .position = {1, 0, 0},
                          .eligible = posting,
                          .posting = posting,
                          .posted = posted,
                          .ended = ended};
  };
  Recording first;
  first.runs = {run(100 * us)};
  first.runs[0].traffic.sent_to(PeerClass::network) = {1, 2500};
  first.operations = {work(OperationKind::compute, 0, 5 * us, 30 * us),
                      message(OperationKind::send, 1, 30 * us, 32 * us, 60 * us),
                      work(OperationKind::compute, 2, 30 * us, 90 * us)};
  first.work = {{0, 10 * us, 30 * us}, {2, 40 * us, 90 * us}};
  first.waits = {{0, 90 * us, 100 * us}};
  Recording second;
  second.runs = {run(110 * us)};
  second.runs[0].traffic.received_from(PeerClass::network) = {1, 2500};
  second.operations = {message(OperationKind::receive, 0, 5 * us, 6 * us, 80 * us),
                       work(OperationKind::compute, 1, 50 * us, 60 * us),
                       work(OperationKind::reduce_local, 2, 80 * us, 100 * us)};
  second.work = {{1, 50 * us, 60 * us}, {2, 80 * us, 100 * us}};
  second.waits = {{0, 6 * us, 50 * us}, {0, 60 * us, 80 * us}};
  return {.ranks = {{0, first}, {1, second}}, .clock_error = 1500, .link_bits_per_second = 1e9};
}

}  // namespace plait::test
