#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/function_ref.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/request.hpp"

namespace plait::mpi {

/// Which ranks of a node are active where `active` of them are to be, and for whom each works: the active rank of every
/// rank, an active one's being itself. With fewer ranks than `active` all of them are.
///
/// `domains` says of each rank of the node where its memory is, such as its NUMA domain. Ranks are taken domain by
/// domain and cut into `active` runs of equal length (but for one rank), the first of each run being active: so active
/// ranks are spread over the domains as all are, and work for ranks of their own one as far as possible.
///
/// \pre  active is at least 1
[[nodiscard]] std::vector<int> serving_ranks(std::span<const int> domains, int active);

/// Runs a kernel on some ranks of each node while the others sleep: a program is started with the many ranks that suit
/// one of its kernels, and another one gets the few that suit it, with a context of their own.
///
///     ActiveRanks active(context, 2);                  // on each node
///     active.run([&](Context& few) { multiply(few, …); });
///
/// Of each node those are active that `serving_ranks` picks, spread over its ranks and NUMA domains: always the same
/// ones, so that the kernel may keep what it made on its context, such as schedules, until this object ends.
///
/// Data. While a kernel runs, what a sleeping rank has in memory from `Context::allocate_shared` (that is_shared()) may
/// be read and written in place by the active ranks of its node, at `Context::shared_address`: they see what it wrote
/// before `run`, and it sees after `run` what they wrote; so do active ranks with each other's. Who works for whom is
/// in `served()`.
///
/// How ranks sleep. A sleeper tells its active rank that it is there, looks for that one's message that all active
/// ranks are done, moves along what is under way in MPI and on the context, and sleeps: a sixteenth of the time that it
/// has slept, up to `interval`. In a kernel of a second or more it uses under 1 % of a core at 10 ms; it wakes up at
/// most `interval` after the kernel, and sooner after a short one. Active ranks wait for sleepers to arrive, but not
/// for any to wake up. (In the paper all ranks meet in a non-blocking barrier, whose rounds sleepers have to move
/// along: there the last one wakes up after several intervals, log2 of the number of ranks.)
///
/// Source: Huang, Chow: "Overlapping communications with other communications …", section III-B.
class ActiveRanks {
 public:
  static constexpr std::chrono::milliseconds usual_interval{10};

  /// Collective over the context, which outlives it.
  /// \param per_node  how many ranks of each node are active: all where a node has no more. The same on all ranks
  /// \throws ArgumentError  on all ranks, where per_node is below 1 or differs, or an interval is not positive
  /// \throws OutOfMemory    on all ranks, where one has too little
  ActiveRanks(Context& context, int per_node, std::chrono::microseconds interval = usual_interval);
  ActiveRanks(const ActiveRanks&) = delete;
  ActiveRanks& operator=(const ActiveRanks&) = delete;
  ~ActiveRanks() = default;

  [[nodiscard]] bool is_active() const noexcept { return active_.has_value(); }
  /// The rank of the context that works for `rank`: itself, if it is active.
  [[nodiscard]] int serving(int rank) const { return serving_[static_cast<std::size_t>(rank)]; }
  /// The ranks of the context for which this one works, itself among them, in ascending order. None if it sleeps.
  [[nodiscard]] std::span<const int> served() const noexcept { return served_; }
  /// The active ranks, in ascending order: `ranks()[r]` is rank r of the kernel's context.
  [[nodiscard]] std::span<const int> ranks() const noexcept { return ranks_; }

  using Kernel = std::function<void(Context& active)>;

  /// Calls `kernel` on the active ranks, with their context; returns when it has on all of them. Collective over the
  /// context. Until then nothing else may be done on the context: what is collective over it is refused.
  ///
  /// Where the kernel throws on some ranks, all ranks throw: these what it threw, the others the error class and the
  /// text of the lowest of them that was not itself let down by another. Ranks of a kernel have to come to an end
  /// though one of them throws; those that wait for a `schedule::Schedule` do.
  ///
  /// \throws ArgumentError  in a kernel: it runs on active ranks only, and can't wake the others
  void run(const Kernel& kernel);

 private:
  enum class Outcome : unsigned char { fine, failed, let_down };

  void expect_sleepers();
  [[nodiscard]] int first_failed(Outcome own);
  void wake(int failed);
  [[nodiscard]] int sleep_until_woken();
  void wait(Request request);

  Context* context_;
  std::chrono::microseconds interval_;
  std::optional<Tags> tag_;
  std::vector<int> serving_;
  std::vector<int> ranks_;
  std::vector<int> served_;
  std::optional<Context> active_;
  std::vector<Outcome> outcomes_;  // of active ranks
};

/// As `agreed`, of an `f` that `rank` calls alone. The others sleep meanwhile, as with `ActiveRanks`, and leave it
/// their cores. `f` does not communicate.
void agreed_by(Context& context, int rank, FunctionRef<void()> f);

}  // namespace plait::mpi
