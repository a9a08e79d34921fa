#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/collective/node/posted_reductions.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/collective/node/sliced_messages.hpp"
#include "plait/mpi/context.hpp"

#include "shim/reduce/log.hpp"

namespace plait::shim::reduce {

/// What is kept of a communicator: whether its ranks share a node, and how they reduce if so. It hangs on the
/// communicator as an MPI attribute and goes with it; duplicates have their own.
///
/// What reducing needs (a context, so two communicators, and a few hundred KB of shared memory) is made when a
/// communicator's calls have reduced so much that it pays, so that many communicators that are used once or twice cost
/// next to nothing; for reproducible sums it is made at once, also over several nodes. All decisions are alike on all
/// ranks of the communicator that have the library: a rank that the others did not wait for knows that, too.
class NodeGroup {
 public:
  /// That of a communicator, made when it is first asked for; where PLAIT_REPRODUCIBLE is set it may wait for the other
  /// ranks then. Different threads may ask for different communicators' at once.
  /// \return  null where there is no such communicator, which no error handler hears of, and where memory is short
  [[nodiscard]] static NodeGroup* of(MPI_Comm comm) noexcept;

  /// A communicator has been freed, and its handle may come again. While it was freed, what the program calls when its
  /// own attributes are deleted may have reduced on it, after this class was done with it. Any thread may call.
  static void forget_freed() noexcept;

  /// Makes no more communicators from now on. For a program that duplicates its own by MPI_Comm_idup: Open MPI 4.1.4
  /// may not come to an end when others are made meanwhile. Any thread may call.
  static void make_no_more() noexcept;

  NodeGroup(const NodeGroup&) = delete;
  NodeGroup& operator=(const NodeGroup&) = delete;
  ~NodeGroup();

  /// 0 where the communicator is between two groups of ranks.
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }

  /// How to reduce `bytes` bytes of operands. Collective over the communicator, whose ranks all give the same
  /// arguments.
  /// \param all_meet  no rank gets through this call before all have come to it. Only then may they wait for each other
  ///                  to make what reducing needs, and only after one such call it is sure that who has not announced
  ///                  itself lacks the library. A first call with much data waits for that for a second at most.
  /// \pre  size() >= 2
  /// \return  null where it does not pay yet, where the ranks share no memory, and where some of them lack the library:
  ///          see `why_not`
  [[nodiscard]] collective::NodeReducer* reducer(Index bytes, bool all_meet) noexcept;
  [[nodiscard]] Outcome why_not() const noexcept { return is_due() ? Outcome::meeting : why_not_; }

  /// How to begin a reduction of `bytes` bytes of operands that is waited for later. Collective over the communicator.
  /// \return  null as above: what it takes is made with what `reducer` gives, for a rank that posts waits for none
  [[nodiscard]] std::shared_ptr<collective::node::PostedReductions> posted(Index bytes) noexcept;

  /// How to begin a reduction again and again. The call is where all ranks may wait for each other, so that what it
  /// takes is made, however little was reduced before.
  [[nodiscard]] std::shared_ptr<collective::node::PostedReductions> posted_again(bool is_exact) noexcept;

  /// All ranks have come out of a barrier of the communicator, in which `reducer` might have made what reducing needs,
  /// too. Does nothing for communicators that nothing was reduced on.
  static void met(MPI_Comm comm) noexcept;

  /// Whether its sums are to be reproducible: all its ranks ask for it, and there are several.
  [[nodiscard]] bool is_reproducible() const noexcept { return wish_ == Wish::of_all; }

  /// Makes what reproducible sums take, unless that was tried before: see `ready_reducer` and `messages`, both null if
  /// it can't be had. Collective over the communicator.
  /// \pre  is_reproducible()
  void begin_reproducible() noexcept;
  [[nodiscard]] collective::NodeReducer* ready_reducer() noexcept { return reducer_.get(); }
  [[nodiscard]] collective::SlicedMessages* messages() noexcept { return messages_.get(); }

  /// Room for a number for each rank.
  [[nodiscard]] std::vector<Index>& counts() noexcept { return counts_; }

 private:
  NodeGroup(MPI_Comm comm, int size, int rank)
      : comm_(comm), size_(size), rank_(rank), counts_(static_cast<std::size_t>(size)) {}

  // Whether MPI tells; the group stays as it is where it has none yet.
  [[nodiscard]] static bool find(MPI_Comm comm, NodeGroup*& group) noexcept;
  [[nodiscard]] static NodeGroup* make(MPI_Comm comm) noexcept;
  enum class Wish : unsigned char { of_none, of_some, of_all };

  [[nodiscard]] bool is_due() const noexcept;
  [[nodiscard]] bool agree(bool fine) const noexcept;
  [[nodiscard]] bool have_all_announced() const noexcept;
  [[nodiscard]] bool have_all_come() const noexcept;
  [[nodiscard]] bool wait_for_all(const std::vector<int>& ranks, double longest_seconds) const;
  void begin_if_it_pays() noexcept;
  [[nodiscard]] Wish wish_of_all();
  void make_reducer();
  void begin() noexcept;
  void end() noexcept;

  MPI_Comm comm_;
  int size_;
  int rank_;
  Wish wish_ = Wish::of_none;
  std::vector<Index> counts_;
  Index reduced_bytes_ = 0;  // while it may come to pay
  bool have_all_met_ = false;
  bool is_decided_ = false;
  bool is_counted_ = false;  // among those of which there may be but so many
  Outcome why_not_ = Outcome::size;
  std::unique_ptr<mpi::Context> context_;
  // After the context, which they use; one of the first two at most, and the third with the first.
  std::unique_ptr<collective::NodeReducer> reducer_;
  std::unique_ptr<collective::SlicedMessages> messages_;
  std::shared_ptr<collective::node::PostedReductions> posted_;  // persistent requests hold it, too
};

}  // namespace plait::shim::reduce
