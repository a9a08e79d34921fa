#include "plait/collective/node/node_slots.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "plait/collective/node/fold.hpp"

namespace plait::collective {

NodeSlots::NodeSlots(const NodeBoard& board, const NodeWait& wait)
    : board_(&board),
      wait_(&wait),
      seen_(static_cast<std::size_t>(board.ranks()), 0),
      operands_(static_cast<std::size_t>(board.ranks())) {}

// In one hop each rank combines everything: little of results that not all ranks get all of, and of exact sums, which
// take longer than moving the operands.
bool NodeSlots::serves(const NodeReduction& reduction) const noexcept {
  const Combine& combine = *reduction.combine;
  const bool is_for_long = reduction.deliver == Deliver::to_all && combine.sum_of_all() == nullptr;
  const Index capacity = board_->slot_capacity();
  const Index most = is_for_long ? capacity : std::min(capacity, NodeBoard::few_bytes);
  return !combine.may_throw() && reduction.n <= most / combine.element_bytes();
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
  const Index bytes = reduction.n * element;
  std::memcpy(board_->slot_data(self, call_, bytes), reduction.in, static_cast<std::size_t>(bytes));
  std::atomic_ref<std::uint64_t>(board_->slot_call(self, call_)).store(call_, std::memory_order_release);

  const bool scatters = reduction.deliver == Deliver::to_owners;
  if (!scatters && !reduction.is_prefix() && !reduction.delivers_to(self)) return;
  const int ranks = reduction.is_prefix() ? reduction.ranks_up_to(self) : board_->ranks();
  if (ranks == 0) return;
  const Index first = scatters ? reduction.begins[static_cast<std::size_t>(self)] : 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != self) await(rank, call_);
    operands_[static_cast<std::size_t>(rank)] = board_->slot_data(rank, call_, bytes) + first * element;
  }
  fold(*reduction.combine, scatters ? reduction.slice_size(self) : reduction.n,
       std::span(operands_).first(static_cast<std::size_t>(ranks)), reduction.out);
}

}  // namespace plait::collective
