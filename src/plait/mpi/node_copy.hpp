#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/context.hpp"

namespace plait::mpi {

/// What rank 0 has in memory, to be read by all ranks: once in each node's shared memory or, where there is too little
/// of that, once on each rank. Destroyed after the last use on any rank of the node.
class NodeCopy {
 public:
  /// Collective over `context`. On one rank nothing is copied, and what is given must outlive this.
  ///
  /// \param original  on rank 0; as many pieces on each rank, of any length
  /// \throws OutOfMemory  on every rank
  NodeCopy(Context& context, const std::vector<std::span<const std::byte>>& original);

  template <class T>
  [[nodiscard]] std::span<const T> piece(std::size_t number) const {
    const std::span<const std::byte> bytes = pieces_[number];
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  SharedMemory shared_;
  Buffer ordinary_;
  std::vector<std::span<const std::byte>> pieces_;
};

}  // namespace plait::mpi
