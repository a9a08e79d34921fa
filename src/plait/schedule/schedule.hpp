#pragma once

#include <exception>
#include <memory>
#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/graph.hpp"

namespace plait::schedule {

/// How many operations of each kind may be under way at once, counted from the lowest unfinished one on. One is enough.
struct Windows {
  int sends = 16;
  int receives = 16;
  int requests = 8;
};

/// Memory for a slot, in the order in which `Graph::input` and `Graph::output` made them.
struct Binding {
  static Binding input(std::span<const std::byte> bytes) noexcept {
    return {const_cast<std::byte*>(bytes.data()), static_cast<Index>(bytes.size()), false};
  }
  static Binding output(std::span<std::byte> bytes) noexcept {
    return {bytes.data(), static_cast<Index>(bytes.size()), true};
  }
  std::byte* data;
  Index bytes;
  bool writable;
};

/// A graph that can be run any number of times, each time on other memory. Every rank of the context has its part.
///
/// Creating, starting and waiting for schedules is ordered alike on all ranks of the context, but for the order in
/// which several active ones are waited for; each rank destroys them when it likes. One run of a schedule is active at
/// a time; any number of schedules may be. Runs allocate nothing once the staging memory is there.
///
/// Failure. When a computation throws, this rank goes on without what depends on it and sends empty messages in its
/// place; the ranks that wait for those do likewise. `wait` then throws the computation's own exception here,
/// `PeerFailed` there, and nothing on ranks that were not concerned. Outputs that depend on what failed are undefined.
/// After an error of MPI itself (`MpiError`) the context is poisoned.
///
/// Source: Huang, Chow: "Overlapping communications with other communications …" for strands; the total order with
/// windows generalises the posting order that keeps rings and trees free of deadlock.
class Schedule {
 public:
  /// Local, but see above. Heavy checks at assertion level 3 compare the graphs of all ranks when it is started first.
  /// \param label  names the operation in the context's counters and in error texts
  /// \throws ContractViolation  if the graph breaks a rule of `Graph`
  Schedule(mpi::Context& context, Graph graph, std::string label, Windows windows = {});
  Schedule(Schedule&&) noexcept;
  Schedule& operator=(Schedule&&) noexcept;
  /// Finishes an active run first, as `wait` does, without throwing.
  ~Schedule();

  /// Takes the memory of the next run now, so that `start` can't fail for lack of it.
  /// \throws std::bad_alloc
  void prepare();
  /// Gives back what `prepare` took, if no run has begun.
  void give_back() noexcept;

  /// Begins a run; returns after posting what can be posted.
  ///
  /// \pre  not active; one binding for each input and output, of at least its size
  /// \throws ArgumentError (bindings), std::bad_alloc (staging), MpiError (poisoned context): nothing was posted then,
  ///         so a caller whose ranks may differ here agrees on the outcome of its preparations first
  void start(std::span<const Binding> bindings = {}, const void* arguments = nullptr);

  /// Moves every active schedule of the context along: completes, posts, computes for about 0.1 ms or one step of each.
  /// Returns true when this run is over. Never waits.
  bool progress();

  /// Returns when this rank's part of the run is over, then throws if it failed.
  void wait();

  [[nodiscard]] bool active() const noexcept;

  /// The unfinished operations and what they wait for, a line each: for watchdogs and debuggers.
  [[nodiscard]] std::string describe() const;

  /// What this rank sends and receives in a run: see `traffic_of`.
  [[nodiscard]] const Exchanged& traffic() const noexcept;

  /// Staging memory that a run holds, in bytes.
  [[nodiscard]] Index staging_bytes() const noexcept;

 private:
  std::unique_ptr<class Executor> executor_;
  bool was_started_ = false;
};

}  // namespace plait::schedule
