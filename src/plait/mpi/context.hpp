#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "plait/base/counters.hpp"
#include "plait/base/timeline.hpp"
#include "plait/mpi/activity.hpp"
#include "plait/mpi/choices.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/node/shared_memory.hpp"
#include "plait/mpi/node/shared_pool.hpp"
#include "plait/mpi/node/topology.hpp"
#include "plait/mpi/staging.hpp"
#include "plait/mpi/tags.hpp"

namespace plait::mpi {

/// What every collective entry point of plait takes: a communicator of its own, so that plait's messages never meet the
/// caller's, the node topology, the description of the machine, the staging memory, the tags, the counters and the
/// timeline.
///
/// One thread drives a context (MPI_THREAD_FUNNELED is enough); different threads may drive different contexts where
/// MPI gives MPI_THREAD_MULTIPLE. Whatever is collective over a context is called in the same order on all of its
/// ranks, and so is what is waited for on several contexts: a rank moves on only what belongs to the context that it
/// waits on. Everything that was made from a context is destroyed before it.
class Context {
 public:
  /// Duplicates `comm` and finds the nodes. Collective over `comm`.
  /// \throws ArgumentError  `comm` is MPI_COMM_NULL or an intercommunicator; nothing has been communicated
  /// \throws OutOfMemory    on all ranks, where one has too little
  explicit Context(MPI_Comm comm);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() = default;

  [[nodiscard]] const Communicator& comm() const noexcept { return comm_; }
  [[nodiscard]] int rank() const noexcept { return comm_.rank(); }
  [[nodiscard]] int size() const noexcept { return comm_.size(); }
  [[nodiscard]] const NodeTopology& topology() const noexcept { return topology_; }

  /// What algorithms are chosen by.
  [[nodiscard]] Choices& choices() noexcept { return *choices_; }
  [[nodiscard]] const model::Placement& placement() const noexcept { return choices_->placement(); }
  [[nodiscard]] const model::Machine& machine() const noexcept { return choices_->machine(); }
  /// Collective in the sense that all ranks give the same one (see `io::read_machine`); no communication.
  /// \throws ArgumentError  as `model::expect_valid`
  void use_machine(model::Machine machine) { choices_->set_machine(std::move(machine)); }

  [[nodiscard]] StagingPool& staging() noexcept { return staging_; }
  [[nodiscard]] SharedPool& shared_staging() noexcept { return *shared_staging_; }
  [[nodiscard]] Reserve& reserve() noexcept { return reserve_; }

  /// `bytes` bytes for this rank, each rank as it likes, uninitialised; in huge pages where the kernel makes them
  /// (Linux 6.1 and later, from 2 MiB on). Collective.
  /// \throws ArgumentError  on all ranks, where one wants fewer than 0
  /// \throws OutOfMemory    on all ranks, where one has no ordinary memory either
  [[nodiscard]] SharedMemory allocate_shared(Index bytes) { return shared_memories_.allocate(*this, bytes); }
  [[nodiscard]] std::optional<SharedPlace> find_shared(std::span<const std::byte> bytes) const {
    return shared_memories_.find(topology_, bytes);
  }
  [[nodiscard]] std::byte* shared_address(int rank, SharedPlace place) const {
    return shared_memories_.address(topology_, rank, place);
  }

  /// What this rank has moved since the context was made (or the counters were cleared), by operation.
  [[nodiscard]] Counters& counters() noexcept { return counters_; }
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  /// When this rank's schedules did what, while it is told to record: see `report::Tracing`.
  [[nodiscard]] Timeline& timeline() noexcept { return timeline_; }

  /// Consecutive tags that nobody else on this context uses. Collective in the sense that all ranks reserve in the same
  /// order; no communication.
  /// \throws MpiError       when the tags are used up, alike on every rank
  /// \throws ArgumentError  if the context is lent
  [[nodiscard]] Tags reserve_tags(int count) {
    expect_all_ranks();  // or some would count on without the others
    return {tags_, count};
  }
  /// Where a failure has kept some ranks from reserving, all go on above what any has reserved. Collective.
  void catch_up_with_tags() { tags_.catch_up(comm_); }

  /// All active work, which whoever waits for any of it moves along: ranks may wait for several schedules in different
  /// orders.
  [[nodiscard]] Activities& activities() noexcept { return activities_; }

  /// After an MPI error nothing is known about messages under way, so the context refuses further work.
  void poison(std::string_view why);
  /// \throws MpiError       if the context was poisoned, naming the first error
  /// \throws ArgumentError  if it is lent
  void expect_usable() const;

  /// While one lives, only some of the ranks work, on a context of their own (`ActiveRanks`), and what is collective
  /// over this one is refused: it would wait for the others. One at a time.
  class Lent {
   public:
    explicit Lent(Context& context) noexcept : context_(&context) { context.lent_ = true; }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    ~Lent() { context_->lent_ = false; }

   private:
    Context* context_;
  };
  /// \throws ArgumentError  if the context is lent
  void expect_all_ranks() const;

 private:
  Communicator comm_;
  NodeTopology topology_;
  std::optional<SharedPool> shared_staging_;
  std::optional<Choices> choices_;
  StagingPool staging_;
  Reserve reserve_;
  SharedMemories shared_memories_;
  Counters counters_;
  Timeline timeline_;
  TagPool tags_;
  Activities activities_;
  std::string poison_;
  bool lent_ = false;
};

/// The context that is kept with a communicator, for callers that are given nothing else: made when it is first asked
/// for, collectively then, and gone with the communicator or MPI, but for what still holds it. Duplicates have one of
/// their own. One thread at a time uses it, as every context.
///
/// \throws as the constructor
[[nodiscard]] std::shared_ptr<Context> context_of(MPI_Comm comm);

}  // namespace plait::mpi
