#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_window.hpp"

namespace plait::schedule {

/// One flag in memory that the ranks of a node share, on a cache line of its own. Only the executor looks inside.
///
/// `posted` holds the number of its last signal, counted over all runs, and, if the signaller failed, its rank + 1;
/// `consumed` counts the awaits of all runs, so that a signaller that is ahead does not overwrite what is still waited
/// for.
struct alignas(64) FlagCell {
  std::uint64_t posted = 0;
  std::uint64_t consumed = 0;
};

/// Flags for the signals and awaits of one schedule.
class NodeFlags {
 public:
  /// Collective over `context`; `count` is the same on the ranks of a node.
  /// \throws OutOfMemory  on every rank of a node whose shared memory is full
  NodeFlags(mpi::Context& context, Index count);
  /// In memory that the ranks share already, which is zero, begins on a cache line and outlives the flags.
  NodeFlags(std::span<std::byte> zeroed, Index count);

  [[nodiscard]] FlagCell& cell(Index flag) const;
  [[nodiscard]] Index size() const noexcept { return count_; }

 private:
  mpi::SharedWindow window_;
  FlagCell* cells_;
  Index count_;
};

}  // namespace plait::schedule
