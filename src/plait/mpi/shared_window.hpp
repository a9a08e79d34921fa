#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/communicator.hpp"

namespace plait::mpi {

/// Memory of several ranks of one node that all of them can load from and store to. Every rank's segment begins on a
/// cache line.
class SharedWindow {
 public:
  SharedWindow() noexcept = default;

  /// Each rank gives the size of its own segment, zero included. Collective over `node`, whose ranks share memory.
  /// \throws OutOfMemory  on every rank, when the node has less shared memory free than all segments together need
  SharedWindow(const Communicator& node, Index bytes);

  SharedWindow(SharedWindow&& other) noexcept;
  SharedWindow& operator=(SharedWindow&& other) noexcept;
  /// Collective over the node: returns when no rank uses the memory any more.
  ~SharedWindow();

  /// The segment of `rank` of the node communicator.
  [[nodiscard]] std::span<std::byte> segment(int rank) const { return segments_[static_cast<std::size_t>(rank)]; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::span<std::byte>> segments_;
};

}  // namespace plait::mpi
