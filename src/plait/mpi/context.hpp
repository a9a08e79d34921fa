#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/base/counters.hpp"
#include "plait/base/memory.hpp"
#include "plait/base/timeline.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"
#include "plait/mpi/activity.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/message.hpp"
#include "plait/mpi/node/shared_memory.hpp"
#include "plait/mpi/node/shared_pool.hpp"
#include "plait/mpi/node/topology.hpp"
#include "plait/mpi/staging.hpp"

namespace plait::model {
class KnownAlternatives;
}

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
  /// \throws ArgumentError  `comm` is an intercommunicator; nothing has been communicated
  /// \throws OutOfMemory    on all ranks, where one has too little
  explicit Context(MPI_Comm comm);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() = default;

  [[nodiscard]] const Communicator& comm() const noexcept { return comm_; }
  [[nodiscard]] int rank() const noexcept { return comm_.rank(); }
  [[nodiscard]] int size() const noexcept { return comm_.size(); }
  [[nodiscard]] const NodeTopology& topology() const noexcept { return topology_; }
  /// Where the ranks are, as the model takes it.
  [[nodiscard]] const model::Placement& placement() const noexcept { return placement_; }

  /// The algorithms of collective operations among such ranks, for choices between them.
  [[nodiscard]] model::KnownAlternatives& alternatives() noexcept { return *alternatives_; }

  /// What the machine can do, by which algorithms are chosen: assumed, unless `use_machine` told.
  [[nodiscard]] const model::Machine& machine() const noexcept { return machine_; }
  /// Collective in the sense that all ranks give the same one (see `io::read_machine`); no communication.
  /// \throws ArgumentError  as `model::expect_valid`
  void use_machine(model::Machine machine);

  /// How an operation is carried out is told here, in a line (see `model::describe`). Each line reaches the listener
  /// once; without a listener nobody needs to write one.
  void note_choice(const std::string& line);
  [[nodiscard]] bool is_told_choices() const noexcept { return tell_choice_ != nullptr; }
  void tell_choices_to(std::function<void(const std::string& line)> listener) { tell_choice_ = std::move(listener); }

  [[nodiscard]] StagingPool& staging() noexcept { return staging_; }
  /// What f returns. Where there is too little memory for it, it is called again with that of a reserve: for what a
  /// rank does on its own account, but the others would wait for.
  /// \pre  f has done nothing where it throws
  template <class F>
  auto with_reserve(const F& f) {
    try {
      if (reserve_.size() == 0) reserve_ = Buffer(reserve_bytes());
    } catch (const std::bad_alloc&) {  // perhaps none is needed
    }
    try {
      return f();
    } catch (const std::bad_alloc&) {
      if (reserve_.size() == 0) throw;
    }
    reserve_ = {};
    return f();
  }

  [[nodiscard]] SharedPool& shared_staging() noexcept { return *shared_staging_; }

  /// `bytes` bytes for this rank, each rank as it likes, uninitialised; in huge pages where the kernel makes them
  /// (Linux 6.1 and later, from 2 MiB on). Collective.
  /// \throws ArgumentError  on all ranks, where one wants fewer than 0
  /// \throws OutOfMemory    on all ranks, where one has no ordinary memory either
  [[nodiscard]] SharedMemory allocate_shared(Index bytes);
  /// Where in this rank's shared memory these bytes lie, if in any.
  [[nodiscard]] std::optional<SharedPlace> find_shared(std::span<const std::byte> bytes) const;
  /// A place in the shared memory of a rank of this node.
  /// \throws ArgumentError  this rank has destroyed its own part of that memory, and with it its view of the others'
  [[nodiscard]] std::byte* shared_address(int rank, SharedPlace place) const;

  /// What this rank has moved since the context was made (or the counters were cleared), by operation.
  [[nodiscard]] Counters& counters() noexcept { return counters_; }
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

  /// When this rank's schedules did what, while it is told to record: see `report::Tracing`.
  [[nodiscard]] Timeline& timeline() noexcept { return timeline_; }

  /// Consecutive tags that nobody else on this context uses, given back on destruction. Collective in the sense that
  /// all ranks reserve in the same order; no communication.
  /// \throws MpiError       when the tags are used up, alike on every rank
  /// \throws ArgumentError  if the context is lent
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
  /// Where a failure has kept some ranks from reserving, all go on above what any has reserved. Collective.
  void catch_up_with_tags();

  /// Active work that `advance` moves along. Whoever enlists dismisses before it ends; who keeps room for itself as
  /// long as it exists can do so without lack of memory.
  class Room {
   public:
    explicit Room(Context& context) : context_(&context) {
      context.activities_.reserve(context.activities_.size() + context.rooms_ + 1);
      ++context.rooms_;
    }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room() { --context_->rooms_; }

   private:
    Context* context_;
  };
  void enlist(Activity& activity) { activities_.push_back(&activity); }
  void dismiss(Activity& activity) noexcept { std::erase(activities_, &activity); }
  [[nodiscard]] std::size_t activities() const noexcept { return activities_.size(); }

  /// Moves all active work along, whoever waits for what: ranks may wait for several schedules in different orders.
  /// True if there was anything to do.
  bool advance() noexcept;

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
  // Plans of short operations take some hundred bytes for each rank.
  [[nodiscard]] Index reserve_bytes() const noexcept { return (Index{64} << 10) + Index{4096} * size(); }

  struct TagRange {
    int first;
    int count;
  };

  Communicator comm_;
  NodeTopology topology_;
  model::Placement placement_;
  std::shared_ptr<model::KnownAlternatives> alternatives_;
  model::Machine machine_;
  std::function<void(const std::string&)> tell_choice_;
  std::set<std::string> told_choices_;
  StagingPool staging_;
  std::optional<SharedPool> shared_staging_;
  Buffer reserve_;
  std::map<Index, std::weak_ptr<SharedWindow>> shared_memories_;  // by number, alike on all ranks
  Index allocated_shared_ = 0;
  Counters counters_;
  Timeline timeline_;
  std::vector<TagRange> used_tags_;  // sorted
  Index next_tag_;                   // above all that were ever reserved
  int highest_tag_;
  std::vector<Activity*> activities_;
  std::size_t rooms_ = 0;
  std::string poison_;
  bool lent_ = false;
};

}  // namespace plait::mpi
