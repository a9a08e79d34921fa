#include "plait/mpi/context.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/attribute.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/error.hpp"

namespace plait::mpi {

namespace {

// MPI would end the program. The ranks of an intercommunicator would send to those of the other group only.
MPI_Comm of_one_group(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) throw ArgumentError("comm: is MPI_COMM_NULL, expected a communicator");
  int joins_groups = 0;
  // SMPI knows neither these nor the call.
  if constexpr (!is_simulated) check(MPI_Comm_test_inter(comm, &joins_groups), "MPI_Comm_test_inter");
  if (joins_groups != 0) throw ArgumentError("comm: is an intercommunicator, expected one of a single group");
  return comm;
}

// Plans of short operations take some hundred bytes for each rank.
Index reserve_bytes(int ranks) { return (Index{64} << 10) + Index{4096} * ranks; }

}  // namespace

Context::Context(MPI_Comm comm)
    : comm_(Communicator::duplicate(of_one_group(comm))),
      topology_(comm_),
      reserve_(reserve_bytes(comm_.size())),
      tags_(comm_.highest_tag()) {
  agreed(*this, [&] {
    shared_staging_.emplace(topology_.node());  // first, as the ranks of a node wait for each other there
    choices_.emplace(topology_);
  });
}

void Context::poison(std::string_view why) {
  if (poison_.empty()) poison_ = why;
}

void Context::expect_all_ranks() const {
  if (lent_) {
    throw ArgumentError(
        "a context of which some ranks sleep while a kernel runs on the others: expected the context "
        "that the kernel was given");
  }
}

void Context::expect_usable() const {
  expect_all_ranks();
  if (!poison_.empty()) throw MpiError("the context can't be used any more after an MPI error: " + poison_);
}

namespace {

// Of all communicators, in the order in which they were made. Never destroyed, as programs may end without
// MPI_Finalize.
struct KeptContexts {
  std::mutex mutex;
  std::vector<std::shared_ptr<Context>> all;

  static KeptContexts& of_process() {
    static auto* const kept = new KeptContexts;  // NOLINT(cppcoreguidelines-owning-memory)
    return *kept;
  }
  void add(const std::shared_ptr<Context>& context) {
    const std::lock_guard lock(mutex);
    all.push_back(context);
  }
  void drop(const std::shared_ptr<Context>& context) {
    const std::lock_guard lock(mutex);
    std::erase(all, context);
  }
};

// What a communicator has: nothing any more after the beginning of MPI_Finalize.
struct ContextOfCommunicator {
  std::weak_ptr<Context> context;
  ~ContextOfCommunicator() {
    if (const auto its = context.lock()) KeptContexts::of_process().drop(its);
  }
};

// On MPI_COMM_SELF, whose attributes MPI_Finalize deletes before all else: while communicators can still be freed.
struct EndOfContexts {
  ~EndOfContexts() { std::exchange(KeptContexts::of_process().all, {}).clear(); }
};

}  // namespace

std::shared_ptr<Context> context_of(MPI_Comm comm) {
  if (const auto* known = Attribute<ContextOfCommunicator>::of(comm)) return known->context.lock();
  auto made = std::make_shared<Context>(comm);
  try {
    agreed(*made, [&] {
      KeptContexts::of_process().add(made);
      Attribute<ContextOfCommunicator>::keep(comm,
                                             std::unique_ptr<ContextOfCommunicator>(new ContextOfCommunicator{made}));
      if (Attribute<EndOfContexts>::of(MPI_COMM_SELF) == nullptr) {
        Attribute<EndOfContexts>::keep(MPI_COMM_SELF, std::make_unique<EndOfContexts>());
      }
    });
  } catch (...) {
    Attribute<ContextOfCommunicator>::drop(comm);
    throw;
  }
  return made;
}

}  // namespace plait::mpi
