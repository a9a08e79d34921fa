#pragma once

#include <vector>

#include "plait/report/intervals.hpp"
#include "plait/report/trace.hpp"

namespace plait::report {

/// A message that was sent and received, or the one end of it that was recorded.
struct Message {
  int from = -1;
  int to = -1;
  const TimedOperation* send = nullptr;
  const TimedOperation* receive = nullptr;

  /// From when both ends had posted it until it was received: a receive that is posted early moves nothing yet. Where
  /// an end was lost, what the other one knows.
  [[nodiscard]] Interval under_way() const noexcept;
  /// From when it was posted for sending until it was received: some of it may have been on the link.
  [[nodiscard]] Interval on_its_way() const noexcept;
};

/// The messages of a trace that ended at both ends, each end with its other one: those of a run and a position between
/// two ranks come in the same order at both. Empty ones, which stand for data that a failed rank did not send, are
/// among them. The trace outlives the result.
[[nodiscard]] std::vector<Message> messages_of(const Trace& trace);

}  // namespace plait::report
