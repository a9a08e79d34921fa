#pragma once

#include <cstdint>
#include <vector>

#include "plait/collective/node/node_board.hpp"
#include "plait/collective/node/node_reduction.hpp"
#include "plait/collective/node/node_wait.hpp"

namespace plait::collective {

/// Reductions of little data, in one hop: each rank writes its operand into a slot of its own, and whoever gets a
/// result reads all slots and combines them itself, in the order of ranks. Between two ranks, of which both get it, as
/// much goes from core to core as when each reduces a half and copies the other, so that there it is for more data.
class NodeSlots {
 public:
  /// Both outlive this.
  NodeSlots(const NodeBoard& board, const NodeWait& wait);

  /// The operand fits a slot, and combining does not throw: nobody would tell the others.
  [[nodiscard]] bool serves(const NodeReduction& reduction) const noexcept;
  /// Collective over the node.
  void run(const NodeReduction& reduction);

 private:
  void await(int rank, std::uint64_t call);

  const NodeBoard* board_;
  const NodeWait* wait_;
  std::uint64_t call_ = 0;
  std::vector<std::uint64_t> seen_;         // by rank: a call that it has begun
  std::vector<const std::byte*> operands_;  // by rank
};

}  // namespace plait::collective
