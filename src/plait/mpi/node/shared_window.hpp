#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/node/shared_file.hpp"
#include "plait/mpi/node/shared_mapping.hpp"

namespace plait::mpi {

/// Bytes that shared memory of this node can still take, or the largest number if that is unknown.
[[nodiscard]] Index free_shared_memory();

/// Memory of several ranks of one node that all of them can load from and store to. Every rank's segment begins on a
/// page, and its memory is there once the window is made, so that nobody finds out when it is first touched.
///
/// Nothing of it is left when its ranks are killed, at whatever moment; but where they may not look at each other's
/// open files (see `SharedFile`), one that is killed while a window is made may leave a file in /dev/shm.
///
/// Not a window of MPI: letting go of it is nobody else's business, and costs no communicator.
class SharedWindow {
 public:
  SharedWindow() noexcept = default;

  /// Each rank gives the size of its own segment, zero included. Collective over `node`, whose ranks share memory.
  /// \throws OutOfMemory  on every rank, when the node has less shared memory free than all segments together need, or
  ///                      its ranks can not open each other's
  SharedWindow(const Communicator& node, Index bytes);

  SharedWindow(SharedWindow&& other) noexcept = default;
  SharedWindow& operator=(SharedWindow&& other) noexcept = default;
  /// Lets go of this rank's view of all segments. The memory is free when all ranks have.
  ~SharedWindow() = default;

  /// The segment of `rank` of the node communicator.
  [[nodiscard]] std::span<std::byte> segment(int rank) const {
    return segments_[static_cast<std::size_t>(rank)].bytes();
  }

 private:
  // Of files made by that function; `addresses` is room for one of each rank. Empty, or why a rank could not reach
  // them.
  [[nodiscard]] std::string map(const Communicator& node, std::span<const Index> sizes,
                                std::span<SharedFile::Address> addresses, SharedFile (*make)());

  std::vector<SharedMapping> segments_;
};

}  // namespace plait::mpi
