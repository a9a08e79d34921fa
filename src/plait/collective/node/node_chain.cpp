// Prefixes, passed on from rank to rank: what of NodeRounds is for them.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/collective/node/node_rounds.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/transform/copy.hpp"

namespace plait::collective {

namespace {

// Short enough that all ranks soon have something to do, long enough that signals cost little beside them.
constexpr Index least_link_bytes = Index{8} << 10;
constexpr Index pieces_of_whole = 8;

}  // namespace

// Nobody meets anybody: this is no call in which addresses are told, so that the last such one still stands on the
// board for those who have not read it. Numbers of rounds go on, and with them the rules by which memory is used again.
void NodeRounds::run_chain(const NodeReduction& reduction) {
  const int self = board_->rank();
  const Index element = reduction.combine->element_bytes();
  const Index least = std::max<Index>(least_link_bytes / element, 1);
  length_ =
      std::min(std::max(least, (reduction.n + pieces_of_whole - 1) / pieces_of_whole), board_->piece_bytes() / element);
  rounds_ = (reduction.n + length_ - 1) / length_;
  ring_.begin(length_ * element);
  for (Index round = 0; round < rounds_; ++round) pass_on(reduction, round);
  before_ = count(rounds_ - 1);
  ring_.end(rounds_);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  if (!reduction.combine->may_throw()) return;
  const mpi::Communicator& node = context_->topology().node();
  const int failed = mpi::all_reduce(node, failure ? self : node.size(), mpi::Operation::minimum());
  if (failure) std::rethrow_exception(failure);
  if (failed == node.size()) return;
  throw PeerFailed(failed, "rank " + std::to_string(failed) + " of the node failed to combine elements of a reduction");
}

void NodeRounds::pass_on(const NodeReduction& reduction, Index round) {
  const int self = board_->rank();
  const bool has_next = self + 1 < board_->ranks();
  const bool is_inclusive = reduction.deliver == Deliver::up_to_itself;
  const Index element = reduction.combine->element_bytes();
  const std::uint64_t number = count(round);
  const Index begin = round * length_;
  const Index n = std::min(length_, reduction.n - begin);
  const Index bytes = n * element;
  const std::byte* const own = reduction.in + begin * element;
  std::byte* const out = reduction.out == nullptr ? nullptr : reduction.out + begin * element;
  std::byte* const for_next = has_next ? stage_of(self, self + 1, round) : nullptr;

  if (self > 0) await_staged(self - 1, number);
  const std::byte* const before = self > 0 ? stage_of(self - 1, self, round) : nullptr;
  if (has_next && number > NodeBoard::rounds_ahead) await_reduced(self + 1, number - NodeBoard::rounds_ahead);
  const simd::Stores stores = into_stages_.next(bytes);
  const Stopwatch watch;
  // Where only the own result needs it, straight there.
  std::byte* const together = !has_next ? out : stores == simd::Stores::cached ? for_next : scratch_.data();
  const std::byte* result = own;
  if (before != nullptr && (has_next || is_inclusive)) {
    try {
      if (!failure_) (*reduction.combine)(n, before, own, together);
    } catch (...) {
      failure_ = std::current_exception();
    }
    result = together;
  }
  if (has_next) {
    if (result != for_next) simd::stream_copy(for_next, result, bytes, isa_, stores);
    into_stages_.took(bytes, watch.seconds());
    publish_staged(number);
  }
  if (!is_inclusive) result = before;
  if (result != nullptr && out != nullptr && result != out) std::memcpy(out, result, static_cast<std::size_t>(bytes));
  std::atomic_ref(board_->control(self).reduced.rounds).store(number, std::memory_order_release);
  std::atomic_ref(board_->control(self).copied.rounds).store(number, std::memory_order_release);
}

}  // namespace plait::collective
