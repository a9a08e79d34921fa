#include "plait/collective/node_slots.hpp"

#include <atomic>
#include <cstring>

#include "plait/collective/fold.hpp"

namespace plait::collective {

NodeSlots::NodeSlots(const NodeBoard& board, const NodeWait& wait)
    : board_(&board),
      wait_(&wait),
      seen_(static_cast<std::size_t>(board.ranks()), 0),
      operands_(static_cast<std::size_t>(board.ranks())) {}

bool NodeSlots::serves(const NodeReduction& reduction) const noexcept {
  return !reduction.combine->may_throw() && reduction.n <= board_->slot_capacity() / reduction.combine->element_bytes();
}

void NodeSlots::await(int rank, std::uint64_t call) {
  auto& seen = seen_[static_cast<std::size_t>(rank)];
  if (seen >= call) return;
  const std::atomic_ref<std::uint64_t> begun(board_->slot_call(rank, call));
  wait_->until([&] { return begun.load(std::memory_order_acquire) >= call; });
  seen = call;
}

void NodeSlots::run(const NodeReduction& reduction) {
  const int self = board_->rank();
  const Index element = reduction.combine->element_bytes();
  ++call_;
  // Whoever has begun the call after the one that used this slot last has read it.
  if (call_ > NodeBoard::slots) {
    for (int rank = 0; rank < board_->ranks(); ++rank) {
      if (rank != self) await(rank, call_ - NodeBoard::slots + 1);
    }
  }
  std::memcpy(board_->slot_data(self, call_), reduction.in, static_cast<std::size_t>(reduction.n * element));
  std::atomic_ref<std::uint64_t>(board_->slot_call(self, call_)).store(call_, std::memory_order_release);

  const bool scatters = reduction.deliver == Deliver::to_owners;
  if (!scatters && !reduction.is_prefix() && !reduction.delivers_to(self)) return;
  const int ranks = reduction.is_prefix() ? reduction.ranks_up_to(self) : board_->ranks();
  if (ranks == 0) return;
  const Index first = scatters ? reduction.begins[static_cast<std::size_t>(self)] : 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != self) await(rank, call_);
    operands_[static_cast<std::size_t>(rank)] = board_->slot_data(rank, call_) + first * element;
  }
  fold(*reduction.combine, scatters ? reduction.slice_size(self) : reduction.n,
       std::span(operands_).first(static_cast<std::size_t>(ranks)), reduction.out);
}

}  // namespace plait::collective
