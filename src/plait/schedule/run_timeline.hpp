#pragma once

#include <cstdint>
#include <string>

#include "plait/base/timeline.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/compiled.hpp"

namespace plait::schedule {

/// What an executor tells the context's timeline about its run. Where nothing is recorded, each call is one branch.
class RunTimeline {
 public:
  /// A run begins; it is recorded if the context records.
  void begin(mpi::Context& context, const Compiled& graph, const std::string& label,
             std::uint64_t repetition) noexcept {
    if (context.timeline().is_recording()) open(context, graph, label, repetition);
  }
  void end() noexcept {
    if (timeline_ != nullptr) close();
  }

  void eligible(int operation) noexcept {
    if (timeline_ != nullptr) of(operation).eligible = steady_nanoseconds();
  }
  void posting(int operation) noexcept {
    if (timeline_ != nullptr) of(operation).posting = steady_nanoseconds();
  }
  void posted(int operation) noexcept {
    if (timeline_ != nullptr) timeline_->happened(of(operation).posted = steady_nanoseconds());
  }
  /// What a message really brings or takes along.
  void carries(int operation, Index bytes) noexcept {
    if (timeline_ != nullptr) of(operation).bytes = bytes;
  }
  void ended(int operation, bool failed) noexcept {
    if (timeline_ != nullptr) record_end(operation, failed);
  }

  /// Around a step: `worked(operation, work_begins())` with the step in between.
  [[nodiscard]] Nanoseconds work_begins() const noexcept { return timeline_ != nullptr ? steady_nanoseconds() : never; }
  void worked(int operation, Nanoseconds begin) noexcept {
    if (timeline_ != nullptr) timeline_->worked(first_ + operation, begin, steady_nanoseconds());
  }

  void sent(PeerClass peer, Traffic traffic) const noexcept {
    if (timeline_ != nullptr) timeline_->run(run_).traffic.sent_to(peer) += traffic;
  }
  void received(PeerClass peer, Traffic traffic) const noexcept {
    if (timeline_ != nullptr) timeline_->run(run_).traffic.received_from(peer) += traffic;
  }

  /// The executor looks whether a communication has ended, with or without work that it could do instead.
  void looks(bool has_work) noexcept { has_work_ = has_work; }

  /// While it lives, the run is waited for.
  class Waiting {
   public:
    explicit Waiting(const RunTimeline& run) noexcept : timeline_(run.timeline_) {
      if (timeline_ != nullptr) before_ = timeline_->wait_for(run.run_);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() {
      if (timeline_ != nullptr) timeline_->wait_for(before_);
    }

   private:
    Timeline* timeline_;
    Index before_ = -1;
  };

 private:
  void open(mpi::Context& context, const Compiled& graph, const std::string& label, std::uint64_t repetition) noexcept;
  void close() noexcept;
  void record_end(int operation, bool failed) noexcept;
  [[nodiscard]] TimedOperation& of(int operation) noexcept { return timeline_->operation(first_ + operation); }

  Timeline* timeline_ = nullptr;  // none while no run is recorded
  Index run_ = 0;
  Index first_ = 0;  // of the run's operations
  bool has_work_ = false;
};

}  // namespace plait::schedule
