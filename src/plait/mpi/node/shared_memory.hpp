#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/node/shared_window.hpp"
#include "plait/mpi/node/topology.hpp"

namespace plait::mpi {

class Context;

/// Memory of this rank, from a cache line on, that the other ranks of its node can read in place: what plait moves out
/// of it is copied once instead of twice. Made by `Context::allocate_shared`; where the node has too little shared
/// memory it is ordinary memory, with which everything works as well.
///
/// Destroyed after the last operation that uses it on any rank of the node; the memory is free when all ranks of the
/// node have destroyed theirs.
class SharedMemory {
 public:
  SharedMemory() noexcept = default;
  SharedMemory(SharedMemory&&) noexcept = default;
  /// Lets go of what it held before.
  SharedMemory& operator=(SharedMemory&&) noexcept = default;
  ~SharedMemory() = default;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// Whether the node can read it; the same on all its ranks.
  [[nodiscard]] bool is_shared() const noexcept { return window_ != nullptr; }

 private:
  friend class SharedMemories;
  std::shared_ptr<SharedWindow> window_;
  Buffer ordinary_;
  std::span<std::byte> bytes_;
};

/// Where an address lies: in which shared memory of its context, and how far into this rank's.
struct SharedPlace {
  Index memory = -1;
  Index offset = 0;
};

/// The shared memories of a context, by number, alike on all ranks.
class SharedMemories {
 public:
  /// See `Context::allocate_shared`.
  [[nodiscard]] SharedMemory allocate(Context& context, Index bytes);
  /// Where in this rank's shared memory these bytes lie, if in any.
  [[nodiscard]] std::optional<SharedPlace> find(const NodeTopology& topology, std::span<const std::byte> bytes) const;
  /// A place in the shared memory of a rank of this node.
  /// \throws ArgumentError  this rank has destroyed its own part of that memory, and with it its view of the others'
  [[nodiscard]] std::byte* address(const NodeTopology& topology, int rank, SharedPlace place) const;

 private:
  std::map<Index, std::weak_ptr<SharedWindow>> known_;
  Index allocated_ = 0;
};

}  // namespace plait::mpi
