#pragma once

#include <span>
#include <vector>

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/group.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// What a rank has made of a chunk's pieces in the middle of a reduce-scatter: for each block where the partial result
/// lies, and since when. At first that is the rank's own operand.
class PartialResults {
 public:
  /// All outlive this. Operations that read the operand become readers of the chunk's pieces.
  PartialResults(Graph& graph, const Group& group, const Blocks& blocks, Chunk& chunk, Place in,
                 const Combine& combine);

  /// Sends the partial results of a run to the `peer`-th of the group.
  /// \pre  they lie one behind the other
  void send(Position position, int peer, const PieceRun& run);

  /// Where what comes from a peer is to stand.
  enum class Side : unsigned char { left, right };

  /// Receives those of the `peer`-th for some runs, and combines them with those that are here: they come to lie one
  /// behind the other in staging memory, in the order of the runs.
  void combine_with(Position position, int peer, const std::vector<PieceRun>& runs, PoolId staging, Side side);

  /// From now on the results of this rank's block come to lie in `out`.
  void deliver_own_to(Place out) { out_ = out, delivers_ = true; }

  /// The operations after which this rank's piece is what it is now.
  [[nodiscard]] const Dependencies& ready() const { return ready_[static_cast<std::size_t>(group_.me())]; }

 private:
  /// Whether a block and the next one can be combined at once.
  [[nodiscard]] bool are_one(int block, int next) const;
  /// Some neighbouring blocks, with what was received at the place of `staged`. Returns where that ends.
  Index combine(Position position, OperationId received, std::span<const int> blocks, Range staged, Side side);

  Graph& graph_;
  const Group& group_;
  const Blocks& blocks_;
  Chunk& chunk_;
  const Combine& combine_;
  Place out_{};
  bool delivers_ = false;
  // By block.
  std::vector<Range> lies_;
  std::vector<Dependencies> ready_;
  std::vector<bool> is_operand_;
};

}  // namespace plait::collective
