#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plait/collective/node/board.hpp"
#include "plait/collective/node/reduction.hpp"
#include "plait/collective/node/wait.hpp"

namespace plait::collective::node {

/// Reductions of little data, in one hop: each rank writes its operand into a slot of its own, and whoever gets a
/// result reads all slots and combines them itself, in the order of ranks. Between two ranks, of which both get it, as
/// much goes from core to core as when each reduces a half and copies the other, so that there it is for more data.
class Slots {
 public:
  /// Both outlive this.
  Slots(const Board& board, const Wait& wait);

  /// The operand fits a slot, and combining does not throw: nobody would tell the others.
  [[nodiscard]] bool serves(const Reduction& reduction) const noexcept;
  /// Collective over the node. Whoever gets a result sees the arguments of all whose operands are in it.
  /// \throws ArgumentError  these differ
  void run(const Reduction& reduction);

  /// Other reductions tell by this that a rank has come, and with what arguments; what it has written before can be
  /// read by whoever has met it.
  void announce(Arguments arguments) { announce(arguments, {}); }
  /// Waits until all ranks have announced this call.
  /// \throws ArgumentError  on all of them, their arguments differ
  void meet();

 private:
  void announce(Arguments arguments, std::span<const std::byte> operand);
  void await(int rank, std::uint64_t call);
  [[nodiscard]] std::uint64_t awaited_word(int rank, std::uint64_t call);
  // Of the first ranks, whose words have been awaited.
  [[noreturn]] void throw_difference(int ranks) const;

  const Board* board_;
  const Wait* wait_;
  std::uint64_t call_ = 0;
  std::uint64_t word_ = 0;                  // what this rank has told of it
  std::vector<std::uint64_t> seen_;         // by rank: a call that it has begun
  std::vector<const std::byte*> operands_;  // by rank
};

}  // namespace plait::collective::node
