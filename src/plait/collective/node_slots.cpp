#include "plait/collective/node_slots.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "plait/base/stopwatch.hpp"
#include "plait/collective/fold.hpp"
#include "plait/simd/copy.hpp"

namespace plait::collective {

namespace {

// Of results that not all ranks get all of, and of exact sums, which take longer than moving the operands: in one hop
// each rank combines everything.
constexpr Index longest_for_any = Index{2} << 10;

}  // namespace

NodeSlots::NodeSlots(const NodeBoard& board, const NodeWait& wait, simd::Isa isa)
    : board_(&board),
      wait_(&wait),
      isa_(isa),
      seen_(static_cast<std::size_t>(board.ranks()), 0),
      operands_(static_cast<std::size_t>(board.ranks())) {}

bool NodeSlots::serves(const NodeReduction& reduction) const noexcept {
  const Combine& combine = *reduction.combine;
  const bool is_for_long = reduction.deliver == Deliver::to_all && combine.sum_of_all() == nullptr;
  const Index most = is_for_long ? board_->slot_capacity() : std::min(board_->slot_capacity(), longest_for_any);
  return !combine.may_throw() && reduction.n <= most / combine.element_bytes();
}

void NodeSlots::await(int rank, std::uint64_t call) {
  auto& seen = seen_[static_cast<std::size_t>(rank)];
  if (seen >= call) return;
  const std::atomic_ref<std::uint64_t> begun(board_->slot_call(rank, call));
  wait_->until([&] { return begun.load(std::memory_order_acquire) >= call; });
  seen = call;
}

void NodeSlots::write(std::byte* slot, const std::byte* operand, Index bytes) {
  if (bytes <= longest_for_any) {
    std::memcpy(slot, operand, static_cast<std::size_t>(bytes));
    return;
  }
  const Stopwatch watch;
  simd::stream_copy(slot, operand, bytes, isa_, into_slots_.next(bytes));
  into_slots_.took(bytes, watch.seconds());
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
  write(board_->slot_data(self, call_, bytes), reduction.in, bytes);
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
