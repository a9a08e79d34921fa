#include "plait/collective/node/slots.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "plait/collective/node/reduction.hpp"

namespace plait::collective::node {

namespace {

// A word that tells of a call: its number above, below it some bits by which arguments differ.
constexpr int digest_bits = 24;

std::uint64_t word_of(std::uint64_t call, Arguments arguments) noexcept {
  return call << digest_bits | arguments.word() * 0x9e3779b97f4a7c15U >> (64 - digest_bits);
}

}  // namespace

Slots::Slots(const Board& board, const Wait& wait)
    : board_(&board),
      wait_(&wait),
      seen_(static_cast<std::size_t>(board.ranks()), 0),
      operands_(static_cast<std::size_t>(board.ranks())) {}

// In one hop each rank combines everything: little of results that not all ranks get all of, and of exact sums, which
// take longer than moving the operands.
bool Slots::serves(const Reduction& reduction) const noexcept {
  const Combine& combine = *reduction.combine;
  const bool is_for_long = reduction.deliver == Deliver::to_all && combine.sum_of_all() == nullptr;
  const Index capacity = board_->slot_capacity();
  const Index most = is_for_long ? capacity : std::min(capacity, Board::few_bytes);
  return !combine.may_throw() && reduction.n <= most / combine.element_bytes();
}

void Slots::await(int rank, std::uint64_t call) {
  if (seen_[static_cast<std::size_t>(rank)] < call) static_cast<void>(awaited_word(rank, call));
}

std::uint64_t Slots::awaited_word(int rank, std::uint64_t call) {
  const std::atomic_ref<std::uint64_t> published(board_->slot_call(rank, call));
  std::uint64_t word = 0;
  wait_->until([&] {
    word = published.load(std::memory_order_acquire);
    return word >> digest_bits >= call;
  });
  auto& seen = seen_[static_cast<std::size_t>(rank)];
  seen = std::max(seen, word >> digest_bits);
  return word;
}

void Slots::throw_difference(int ranks) const {
  const Arguments first(board_->arguments(0, call_));
  for (int rank = 1; rank < ranks; ++rank) {
    const Arguments own(board_->arguments(rank, call_));
    if (own != first) own.throw_difference(rank, first);
  }
  first.throw_difference(0, first);
}

void Slots::announce(Arguments arguments, std::span<const std::byte> operand) {
  const int self = board_->rank();
  ++call_;
  // Whoever has begun the call after the one that used this slot last has read it.
  if (call_ > Board::slots) {
    for (int rank = 0; rank < board_->ranks(); ++rank) {
      if (rank != self) await(rank, call_ - Board::slots + 1);
    }
  }
  board_->arguments(self, call_) = arguments.word();
  if (!operand.empty()) {
    std::memcpy(board_->slot_data(self, call_, static_cast<Index>(operand.size())), operand.data(), operand.size());
  }
  word_ = word_of(call_, arguments);
  std::atomic_ref<std::uint64_t>(board_->slot_call(self, call_)).store(word_, std::memory_order_release);
}

void Slots::meet() {
  bool are_alike = true;
  for (int rank = 0; rank < board_->ranks(); ++rank) {
    if (rank != board_->rank()) are_alike = (awaited_word(rank, call_) == word_) && are_alike;
  }
  if (!are_alike) throw_difference(board_->ranks());
}

void Slots::run(const Reduction& reduction) {
  const int self = board_->rank();
  const Index element = reduction.combine->element_bytes();
  const Index bytes = reduction.n * element;
  announce(Arguments(reduction), {reduction.in, static_cast<std::size_t>(bytes)});

  const bool scatters = reduction.deliver == Deliver::to_owners;
  if (!scatters && !reduction.is_prefix() && !reduction.delivers_to(self)) return;
  const int ranks = reduction.is_prefix() ? reduction.ranks_up_to(self) : board_->ranks();
  if (ranks == 0) return;
  const Index first = scatters ? reduction.begins[static_cast<std::size_t>(self)] : 0;
  bool are_alike = true;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != self) are_alike = (awaited_word(rank, call_) == word_) && are_alike;
    operands_[static_cast<std::size_t>(rank)] = board_->slot_data(rank, call_, bytes) + first * element;
  }
  if (!are_alike) throw_difference(std::max(ranks, self + 1));
  if (reduction.n == 0) return;
  fold(*reduction.combine, scatters ? reduction.slice_size(self) : reduction.n,
       std::span(operands_).first(static_cast<std::size_t>(ranks)), reduction.out);
}

}  // namespace plait::collective::node
