#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// Reductions among all ranks of a context, on however many nodes, by MPI's messages: each rank gets its slice of all
/// operands, folds them, and sends out the result. So every element is combined in one place, with all operands at hand
/// and in the order of ranks, and a rank sends and receives 2 (P - 1) / P of the operand, the least that an all-reduce
/// can do with; but ranks that share a node send all of theirs to the others. Operands of some KB go to all ranks at
/// once.
///
/// It holds 4 MiB, or 16 KiB for each rank if that is more, and again as much as that is for a rank.
class SlicedMessages {
 public:
  /// Collective over the context, which outlives this.
  /// \throws OutOfMemory  on all ranks, where one has too little
  explicit SlicedMessages(mpi::Context& context);

  /// The most that an element may have.
  static constexpr Index least_slice_bytes = Index{16} << 10;

  /// out ← in of rank 0 op in of rank 1 op …, of n elements each, on all ranks. Collective; n and the operation are the
  /// same on all ranks. `out` is `in`, begins before it, or does not overlap it. `combine` does not throw.
  ///
  /// \pre  combine.element_bytes() <= least_slice_bytes
  /// \throws ArgumentError  on all ranks alike: a negative n
  /// \throws MpiError
  void allreduce(const void* in, void* out, Index n, const Combine& combine);

  /// The same on the root only; elsewhere `out` is not looked at.
  /// \throws ArgumentError  also a root that does not exist
  void reduce(const void* in, void* out, Index n, int root, const Combine& combine);

  /// out ← this rank's share of the result: of its elements those from counts[0] + … + counts[rank - 1] on,
  /// counts[rank] of them. In place they come to lie at the beginning, and what is behind them is undefined. A rank
  /// sends each other one its share and receives its own from all, so (P - 1) / P of the operand goes either way where
  /// shares are equal; all of them are under way at once, by slices of each where they are long.
  /// \pre  counts.size() == context.size(); in has as many elements as all counts together
  void reduce_scatter(const void* in, void* out, std::span<const Index> counts, const Combine& combine);

  /// The same with n elements for each rank.
  void reduce_scatter_block(const void* in, void* out, Index n, const Combine& combine);

 private:
  static constexpr int all = -1;
  void check(Index n, const Combine& combine) const;
  void run(const std::byte* in, std::byte* out, Index n, int root, const Combine& combine);
  void fold_whole(const std::byte* in, std::byte* out, Index n, int root, const Combine& combine);
  void fold_slices(const std::byte* in, std::byte* out, Index n, Index slice, int root, const Combine& combine);
  /// Of what is in `shares_`, which is used up.
  void fold_shares(std::byte* out, const Combine& combine);
  /// Operands that lie one behind the other in what was gathered.
  std::span<const std::byte* const> gathered_operands(Index operand_bytes);
  [[nodiscard]] bool gets_result(int root) const { return root == all || root == context_->rank(); }

  mpi::Context* context_;
  Index slice_bytes_;
  Buffer gathered_;  // slices of all ranks
  Buffer result_;
  std::vector<const std::byte*> operands_;
  std::vector<Index> send_bytes_;
  std::vector<Index> receive_bytes_;
  std::vector<std::span<const std::byte>> shares_;  // by rank, what of it is still to be sent
  std::vector<std::span<const std::byte>> to_send_;
  std::vector<std::span<std::byte>> received_;
};

}  // namespace plait::collective
