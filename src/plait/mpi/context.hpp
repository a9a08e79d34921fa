#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plait/base/counters.hpp"
#include "plait/mpi/activity.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/shared_window.hpp"
#include "plait/mpi/staging.hpp"
#include "plait/mpi/topology.hpp"

namespace plait::mpi {

/// What every collective entry point of plait takes: a communicator of its own, so that plait's messages never meet the
/// caller's, the node topology, the staging memory, the tags and the counters.
///
/// One thread drives a context (MPI_THREAD_FUNNELED is enough); different threads may drive different contexts where
/// MPI gives MPI_THREAD_MULTIPLE. Whatever is collective over a context is called in the same order on all of its
/// ranks. Everything that was made from a context is destroyed before it.
class Context {
 public:
  /// Duplicates `comm` and finds the nodes. Collective over `comm`.
  explicit Context(MPI_Comm comm);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() = default;

  [[nodiscard]] const Communicator& comm() const noexcept { return comm_; }
  [[nodiscard]] int rank() const noexcept { return comm_.rank(); }
  [[nodiscard]] int size() const noexcept { return comm_.size(); }
  [[nodiscard]] const NodeTopology& topology() const noexcept { return topology_; }
  [[nodiscard]] StagingPool& staging() noexcept { return staging_; }

  /// What this rank has moved since the context was made (or the counters were cleared), by operation.
  [[nodiscard]] Counters& counters() noexcept { return counters_; }
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

  /// Consecutive tags that nobody else on this context uses, given back on destruction. Collective in the sense that
  /// all ranks reserve and give back in the same order; no communication.
  /// \throws MpiError  when the tags are used up, alike on every rank
  class Tags {
   public:
    Tags(Context& context, int count);
    Tags(Tags&& other) noexcept : context_(other.context_), first_(other.first_), count_(other.count_) {
      other.context_ = nullptr;
    }
    Tags& operator=(Tags&&) = delete;
    ~Tags();
    [[nodiscard]] int first() const noexcept { return first_; }

   private:
    Context* context_;
    int first_ = 0;
    int count_;
  };
  [[nodiscard]] Tags reserve_tags(int count) { return {*this, count}; }

  /// Active work that `advance` moves along. Whoever enlists dismisses before it ends.
  void enlist(Activity& activity) { activities_.push_back(&activity); }
  void dismiss(Activity& activity) noexcept { std::erase(activities_, &activity); }

  /// Moves all active work along, whoever waits for what: ranks may wait for several schedules in different orders.
  /// True if there was anything to do.
  bool advance() noexcept;

  /// After an MPI error nothing is known about messages under way, so the context refuses further work.
  void poison(std::string_view why);
  /// \throws MpiError  if the context was poisoned, naming the first error
  void expect_usable() const;

 private:
  struct TagRange {
    int first;
    int count;
  };

  Communicator comm_;
  NodeTopology topology_;
  StagingPool staging_;
  Counters counters_;
  std::vector<TagRange> used_tags_;  // sorted
  int highest_tag_;
  std::vector<Activity*> activities_;
  std::string poison_;
};

}  // namespace plait::mpi
