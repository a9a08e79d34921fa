#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "plait/base/counters.hpp"
#include "plait/base/index.hpp"
#include "plait/base/operation_kind.hpp"

namespace plait {

/// A point in time, in nanoseconds of the steady clock, which the processes of a machine share.
using Nanoseconds = std::int64_t;

[[nodiscard]] constexpr double seconds(Nanoseconds time) noexcept { return static_cast<double>(time) * 1e-9; }

inline constexpr Nanoseconds never = -1;  ///< of what did not happen

[[nodiscard]] inline Nanoseconds steady_nanoseconds() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// One run of a schedule. Runs start in the same order on all ranks, so the `number`s, and with them the runs
/// themselves, correspond: a run is the entry of that number in the recordings of all ranks that lost nothing.
struct TimedRun {
  std::string label;     ///< the schedule's
  Index number = 0;      ///< of all runs on the context since recording began
  Index repetition = 0;  ///< of the runs of this schedule, from 1 on
  Nanoseconds begin = never;
  Nanoseconds end = never;    ///< when this rank's part was over
  TrafficCounters traffic{};  ///< what the run added to the context's counters
  friend bool operator==(const TimedRun&, const TimedRun&) = default;
};

/// One operation of a run: eligible once nothing that it depends upon is left, then (but for work) posted within the
/// windows, which takes the time from `posting` to `posted`, then ended.
struct TimedOperation {
  Index run = 0;  ///< index into the runs of the recording
  OperationKind kind = OperationKind::compute;
  PeerClass peer_class = PeerClass::self;  ///< of requests: the farthest rank there is; of flags: node
  bool failed = false;
  int peer = -1;                    ///< of messages
  Index bytes = 0;                  ///< of messages: what really travelled
  std::array<Index, 3> position{};  ///< stage, strand, segment
  Nanoseconds eligible = never;
  Nanoseconds posting = never;  ///< of messages and requests
  Nanoseconds posted = never;
  Nanoseconds ended = never;
  friend bool operator==(const TimedOperation&, const TimedOperation&) = default;
};

/// A time in which this rank worked on an operation: one step, or several with less than a microsecond in between.
struct TimedWork {
  Index operation = 0;  ///< index into the operations of the recording
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  friend bool operator==(const TimedWork&, const TimedWork&) = default;
};

/// A time in which this rank was inside of `Schedule::wait` with nothing to work on, until a communication ended.
struct TimedWait {
  Index run = 0;  ///< the one that was waited for
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  friend bool operator==(const TimedWait&, const TimedWait&) = default;
};

/// What a rank's schedules did and when.
struct Recording {
  std::vector<TimedRun> runs{};
  std::vector<TimedOperation> operations{};
  std::vector<TimedWork> work{};
  std::vector<TimedWait> waits{};
  Index lost = 0;  ///< entries for which there was no memory: a run with all its operations, a time of work, a wait
  friend bool operator==(const Recording&, const Recording&) = default;
};

/// Records, while it is told to, what the schedules of a context do. It never fails them: what it has no memory for is
/// lost, and counted. Memory is taken when a run begins, and for work and waits as they come, ever less often.
class Timeline {
 public:
  static constexpr Index default_bytes = Index{256} << 20;

  [[nodiscard]] bool is_recording() const noexcept { return is_recording_; }
  /// Runs that are recorded and not over.
  [[nodiscard]] int open_runs() const noexcept { return open_runs_; }

  /// Forgets what there is, and records the runs that begin from now on, in about so much memory at most.
  /// \pre  no open runs
  void start(Index most_bytes = default_bytes);
  /// Begins no more runs.
  void stop() noexcept { is_recording_ = false; }
  /// What was recorded; nothing is left here.
  /// \pre  no open runs
  [[nodiscard]] Recording take();

  /// For executors. The run's index, or -1 if it isn't recorded; `operations` entries are made for it, from
  /// `first_operation` on.
  [[nodiscard]] Index open_run(const std::string& label, Index repetition, Index operations,
                               Index& first_operation) noexcept;
  void close_run() noexcept { --open_runs_; }
  [[nodiscard]] TimedRun& run(Index index) noexcept { return recording_.runs[static_cast<std::size_t>(index)]; }
  [[nodiscard]] TimedOperation& operation(Index index) noexcept {
    return recording_.operations[static_cast<std::size_t>(index)];
  }
  /// Something that an operation of any run did.
  void happened(Nanoseconds when) noexcept { latest_ = when; }
  /// From now on a run is waited for; -1: none is. Returns which one was before.
  Index wait_for(Index run) noexcept;
  /// Where a run is waited for: the rank had nothing to do since something happened last.
  void was_idle_until(Nanoseconds when) noexcept;
  void worked(Index operation, Nanoseconds begin, Nanoseconds end) noexcept;

 private:
  template <class T>
  void append(std::vector<T>& entries, const T& entry) noexcept;
  [[nodiscard]] bool takes(std::size_t bytes) noexcept;

  Recording recording_;
  Index most_bytes_ = 0;
  Index bytes_ = 0;
  Index runs_ = 0;  // begun, lost ones included
  int open_runs_ = 0;
  Index waited_for_ = -1;
  Nanoseconds latest_ = never;
  bool is_recording_ = false;
};

/// Computations that are no operation of a schedule, as a run of one, so that a trace tells what they hide. Made on all
/// ranks, in the same order, as other runs begin. Where nothing is recorded, it costs a branch a call.
class TimedComputation {
 public:
  TimedComputation(Timeline& timeline, const char* label, Index repetition) : timeline_(timeline) {
    if (!timeline.is_recording()) return;
    run_ = timeline.open_run(label, repetition, 1, operation_);
    if (run_ < 0) return;
    const Nanoseconds now = steady_nanoseconds();
    timeline.operation(operation_) = {.run = run_, .eligible = now, .ended = now};
    timeline.run(run_).begin = timeline.run(run_).end = now;
  }
  TimedComputation(const TimedComputation&) = delete;
  TimedComputation& operator=(const TimedComputation&) = delete;
  ~TimedComputation() {
    if (run_ >= 0) timeline_.close_run();
  }

  /// A part of it.
  template <class F>
  void operator()(const F& compute) {
    const Nanoseconds begin = run_ < 0 ? never : steady_nanoseconds();
    compute();
    if (run_ < 0) return;
    const Nanoseconds end = steady_nanoseconds();
    timeline_.worked(operation_, begin, end);
    timeline_.operation(operation_).ended = timeline_.run(run_).end = end;
  }

 private:
  Timeline& timeline_;
  Index run_ = -1, operation_ = 0;
};

}  // namespace plait
