#include "shim/reduce/node_group.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "plait/base/backoff.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/error.hpp"
#include "plait/mpi/handles.hpp"
#include "plait/mpi/message.hpp"

#include "shim/reduce/kernels.hpp"
#include "shim/reduce/posted_request.hpp"
#include "shim/reduce/presence.hpp"
#include "shim/reduce/running.hpp"
#include "shim/reduce/world_wish.hpp"

namespace plait::shim::reduce {

namespace {

// Making a reducer takes about a millisecond, in which MPI reduces a quarter of this. Each call counts for some bytes
// beside its data.
constexpr Index bytes_to_begin = Index{16} << 20;
constexpr Index bytes_of_call = 4096;

// Each takes two communicators, of which MPICH has 2,046 in all, and a third one for a moment. Where they only save
// time, the program is to have nearly all; sums that are asked to be reproducible go first, but a program with as many
// communicators can still make as many again.
constexpr int most_reducers = 64;
constexpr int most_reproducible = 512;

// How long others of a node may take to announce themselves before they are taken to lack the library. Whoever waited
// so long for one waits for none again.
constexpr double longest_wait_seconds = 10;
constexpr double longest_wait_of_first_call_seconds = 1;

constexpr std::string_view at_odds = "PLAIT_REPRODUCIBLE differs between ranks: sums among those are not reproducible";
constexpr std::string_view not_in_time =
    "ranks lack libplait_reduce.so, or began 10 s later than others: sums among those are not reproducible";

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): as MPI's own state, there is one of them in a process
std::atomic<int> reducers = 0;
std::atomic<bool> duplicates_in_background = false;
std::atomic<std::uint64_t> freed = 1;  // communicators, plus one; what a thread remembers is from before or after

struct RememberedNode {
  MPI_Comm comm;
  std::uint64_t freed;  // the handle of a freed communicator may come again
  NodeGroup* group;
};
// By a hash of the handle, so that programs which reduce along rows and columns in turn ask MPI but once for each.
constexpr unsigned bits_of_index = 6;
thread_local constinit std::array<RememberedNode, 1U << bits_of_index> remembered{};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

RememberedNode& place_of(MPI_Comm comm) noexcept {
  constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio
  return remembered[std::hash<MPI_Comm>()(comm) * spread >> (64U - bits_of_index)];
}

// In MPI_Finalize, what is left belongs to a process that ends: communicators are not to be freed any more.
int forget(MPI_Comm /*comm*/, int /*key*/, void* group, void* /*extra*/) {
  freed.fetch_add(1, std::memory_order_acq_rel);
  if (mpi_is_running()) delete static_cast<NodeGroup*>(group);
  return MPI_SUCCESS;
}

int attribute_key() noexcept {
  static const int key = [] {
    int created = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &created, nullptr);
    return created;
  }();
  return key;
}

}  // namespace

NodeGroup* NodeGroup::of(MPI_Comm comm) noexcept {
  const std::uint64_t now = freed.load(std::memory_order_acquire);
  RememberedNode& last = place_of(comm);
  if (last.comm == comm && last.freed == now) return last.group;
  if (!mpi::is_communicator(comm)) return nullptr;
  NodeGroup* group = nullptr;
  if (!find(comm, group)) return nullptr;
  if (group == nullptr) group = make(comm);
  if (group != nullptr) last = {comm, now, group};
  return group;
}

bool NodeGroup::find(MPI_Comm comm, NodeGroup*& group) noexcept {
  void* known = nullptr;
  int found = 0;
  if (MPI_Comm_get_attr(comm, attribute_key(), static_cast<void*>(&known), &found) != MPI_SUCCESS) return false;
  if (found != 0) group = static_cast<NodeGroup*>(known);
  return true;
}

NodeGroup* NodeGroup::make(MPI_Comm comm) noexcept {
  int has_two_groups = 0;
  int size = 0;
  int rank = 0;
  MPI_Comm_test_inter(comm, &has_two_groups);
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  try {
    std::unique_ptr<NodeGroup> made(new NodeGroup(comm, has_two_groups != 0 ? 0 : size, rank));
    if (made->size_ > 1 && is_reproducible_wanted()) made->wish_ = made->wish_of_all();
    if (MPI_Comm_set_attr(comm, attribute_key(), made.get()) != MPI_SUCCESS) return nullptr;
    return made.release();  // the communicator's now
  } catch (const std::exception&) {
    return nullptr;
  }
}

void NodeGroup::forget_freed() noexcept { freed.fetch_add(1, std::memory_order_acq_rel); }

void NodeGroup::make_no_more() noexcept { duplicates_in_background.store(true, std::memory_order_relaxed); }

NodeGroup::~NodeGroup() { end(); }

collective::NodeReducer* NodeGroup::reducer(Index bytes, bool all_meet) noexcept {
  if (!is_decided_) {
    reduced_bytes_ += bytes + bytes_of_call;
    if (!have_all_met_ && all_meet && bytes >= bytes_to_begin) have_all_met_ = have_all_come();
    if (have_all_met_ && all_meet) begin_if_it_pays();
    have_all_met_ = have_all_met_ || all_meet;
  }
  return reducer_.get();
}

std::shared_ptr<collective::node::PostedReductions> NodeGroup::posted(Index bytes) noexcept {
  if (!is_decided_) reduced_bytes_ += bytes + bytes_of_call;
  return posted_;
}

std::shared_ptr<collective::node::PostedReductions> NodeGroup::posted_again(bool is_exact) noexcept {
  if (is_exact) begin_reproducible();
  if (!is_decided_) {
    reduced_bytes_ = std::max(reduced_bytes_, bytes_to_begin);
    have_all_met_ = have_all_met_ || have_all_come();
    if (have_all_met_) begin_if_it_pays();
  }
  return posted_;
}

void NodeGroup::met(MPI_Comm comm) noexcept {
  NodeGroup* group = nullptr;
  if (!mpi::is_communicator(comm) || !find(comm, group) || group == nullptr || group->is_decided_) return;
  group->have_all_met_ = true;
  group->begin_if_it_pays();
}

bool NodeGroup::is_due() const noexcept { return !is_decided_ && size_ > 1 && reduced_bytes_ >= bytes_to_begin; }

void NodeGroup::begin_if_it_pays() noexcept {
  if (!is_due()) return;
  if (have_all_announced()) return begin();
  is_decided_ = true;
  why_not_ = Outcome::communicator;
}

void NodeGroup::begin_reproducible() noexcept {
  if (!is_decided_) begin();
}

bool NodeGroup::agree(bool fine) const noexcept {
  int all = fine ? 1 : 0;
  return MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_) == MPI_SUCCESS && all != 0;
}

bool NodeGroup::have_all_announced() const noexcept {
  try {
    return are_present(world_ranks_of(comm_));
  } catch (const std::exception&) {
    return false;
  }
}

// Those of a first call that is worth a wait: they come out of MPI_Init at about the same time.
bool NodeGroup::have_all_come() const noexcept {
  try {
    const std::vector<int> ranks = world_ranks_of(comm_);
    if (!is_job_on_one_node() || std::ranges::find(ranks, -1) != ranks.end()) return false;
    return wait_for_all(ranks, longest_wait_of_first_call_seconds);
  } catch (const std::exception&) {
    return false;
  }
}

// Of ranks of one node; alike on all of them that have the library.
bool NodeGroup::wait_for_all(const std::vector<int>& ranks, double longest_seconds) const {
  static std::atomic<bool> some_lack_it = false;
  const mpi::Communicator comm = mpi::Communicator::borrowed(comm_);
  const Stopwatch waiting;
  Backoff backoff;
  for (;;) {
    const std::optional<int> absent = first_absent(ranks);
    if (!absent) return true;
    if (is_any_given_up(ranks)) return false;
    if (waiting.seconds() > longest_seconds) some_lack_it = true;
    if (some_lack_it && give_up_on(*absent)) return false;
    mpi::progress(comm);
    backoff.idle();
  }
}

// Processes that were not started together can't find out about each other, as all of them see. Over several nodes it
// was found out for all processes at once. On one node the others are asked for without communication, which a rank
// that lacks the library or the wish would not take part in. Those that have it are on their way to this call, and may
// need this rank's progress to get there.
NodeGroup::Wish NodeGroup::wish_of_all() {
  const std::vector<int> ranks = world_ranks_of(comm_);
  if (std::ranges::find(ranks, -1) != ranks.end()) {
    if (rank_ == 0) {
      Log::of_program().tell_at_odds(
          "sums among ranks that were started apart, as by MPI_Comm_spawn, are not reproducible");
    }
    return Wish::of_some;
  }
  if (!is_job_on_one_node()) {
    const WorldWish wish = wish_of_world();
    if (wish == WorldWish::of_all) return Wish::of_all;
    if (rank_ == 0 && wish == WorldWish::unknown) Log::of_program().tell_at_odds(at_odds);
    return Wish::of_some;
  }
  const bool all_came = wait_for_all(ranks, longest_wait_seconds);
  if (all_came && want_reproducible(ranks)) return Wish::of_all;
  const auto wants = [](int rank) { return wants_reproducible(rank); };
  const bool others_say_it = is_any_given_up({ranks[static_cast<std::size_t>(rank_)]}) ||
                             std::any_of(ranks.begin(), ranks.begin() + rank_, wants);
  if (!others_say_it) Log::of_program().tell_at_odds(all_came ? at_odds : not_in_time);
  return Wish::of_some;
}

void NodeGroup::begin() noexcept {
  is_decided_ = true;
  why_not_ = Outcome::shared_memory;
  const bool has_room =
      reducers.fetch_add(1, std::memory_order_relaxed) < (is_reproducible() ? most_reproducible : most_reducers);
  is_counted_ = true;
  if (!agree(has_room && !duplicates_in_background.load(std::memory_order_relaxed))) return end();
  bool fine = false;
  try {
    make_reducer();
    fine = reducer_ != nullptr || messages_ != nullptr;
  } catch (const std::exception&) {
    fine = false;
  }
  if (!agree(fine)) end();
}

void NodeGroup::make_reducer() {
  std::optional<mpi::Communicator> plain;
  {
    // There may be too many communicators, which is no business of the program's handler. What other threads do on this
    // one meanwhile returns its errors, too.
    const mpi::ReturnedErrors returned(comm_);
    // Not a duplicate, which would call what the program wants called where its attributes are copied.
    plain = mpi::Communicator::borrowed(comm_).split(0, rank_);
  }
  context_ = std::make_unique<mpi::Context>(plain->handle());
  if (context_->topology().nodes() == 1) {
    reducer_ = std::make_unique<collective::NodeReducer>(*context_, isa_of_program());
    if (!reducer_->shares_memory()) reducer_.reset();
    if (reducer_ && agree(can_make_requests()))
      posted_ = std::make_shared<collective::node::PostedReductions>(*context_);
    if (posted_ && !posted_->shares_memory()) posted_.reset();
  } else {
    why_not_ = Outcome::communicator;
  }
  if (is_reproducible() && !reducer_) messages_ = std::make_unique<collective::SlicedMessages>(*context_);
}

void NodeGroup::end() noexcept {
  posted_.reset();
  reducer_.reset();
  messages_.reset();
  context_.reset();
  if (std::exchange(is_counted_, false)) reducers.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace plait::shim::reduce
