#pragma once

#include <vector>

#include "plait/base/memory.hpp"
#include "plait/collective/node/reduction.hpp"
#include "plait/collective/node/wait.hpp"
#include "plait/mpi/context.hpp"

namespace plait::collective::node {

/// Reductions where the node has no shared memory to spare: pieces of the operands are gathered by MPI, and each rank
/// combines those whose result it gets. Slow, but the results are the same, bit by bit.
class Messages {
 public:
  /// Both outlive this. Every rank can do it by itself.
  Messages(mpi::Context& context, const Wait& wait);

  /// Collective over the node.
  /// \pre  an element has at most `piece_bytes` bytes
  /// \throws what combining threw on this rank, or PeerFailed where it threw on another
  void run(const Reduction& reduction);

  static constexpr Index piece_bytes = Index{16} << 10;

 private:
  void deliver(const Reduction& reduction, const SlicePart& gathered);
  void gather(const Reduction& reduction, const SlicePart& piece);

  const mpi::Communicator* node_;
  const Wait* wait_;
  Buffer gathered_;  // a piece of each rank
  std::vector<const std::byte*> operands_;
};

}  // namespace plait::collective::node
