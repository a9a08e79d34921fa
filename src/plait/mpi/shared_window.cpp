#include "plait/mpi/shared_window.hpp"

#include <sys/statvfs.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/error.hpp"

namespace plait::mpi {

namespace {

// Bytes that shared memory can still take. Asking MPI for more ends the job on MPICH, whatever the error handler.
Index free_shared_memory() {
  struct statvfs info{};
  if (::statvfs("/dev/shm", &info) != 0)
    return std::numeric_limits<Index>::max();  // not where this MPI keeps it: let MPI decide
  return static_cast<Index>(info.f_bavail) * static_cast<Index>(info.f_frsize);
}

// MPI aligns segments to 8 bytes at best: room for moving the beginning to a cache line.
constexpr auto padding = static_cast<Index>(Buffer::alignment);

// What segments of these sizes take together, or the largest number if that is more.
Index total_bytes(const std::vector<Index>& sizes) {
  constexpr Index most = std::numeric_limits<Index>::max();
  Index total = 0;
  for (const Index size : sizes) {
    if (size > most - padding - total) return most;
    total += size + padding;
  }
  return total;
}

}  // namespace

SharedWindow::SharedWindow(const Communicator& node, Index bytes) {
  PLAIT_ASSERT(bytes >= 0, "a segment has no negative size");
  const std::vector<Index> sizes = all_gather(node, bytes);
  segments_.reserve(sizes.size());
  const Index wanted = total_bytes(sizes);
  const Index available = all_reduce(node, free_shared_memory(), Operation::minimum());
  if (wanted > available) {
    throw OutOfMemory("shared memory of the node: " + std::to_string(wanted) + " bytes wanted, " +
                      std::to_string(available) + " free in /dev/shm");
  }

  void* base = nullptr;
  check(
      MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes + padding), 1, MPI_INFO_NULL, node.handle(), &base, &window_),
      "MPI_Win_allocate_shared");
  for (int rank = 0; rank < node.size(); ++rank) {
    MPI_Aint size = 0;
    int unit = 0;
    check(MPI_Win_shared_query(window_, rank, &size, &unit, static_cast<void*>(&base)), "MPI_Win_shared_query");
    // Two mappings of one segment agree modulo the page, so every rank moves the beginning by the same amount.
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    const std::uintptr_t shift = (Buffer::alignment - address % Buffer::alignment) % Buffer::alignment;
    segments_.emplace_back(static_cast<std::byte*>(base) + shift,
                           static_cast<std::size_t>(sizes[static_cast<std::size_t>(rank)]));
  }
}

SharedWindow::SharedWindow(SharedWindow&& other) noexcept
    : window_(std::exchange(other.window_, MPI_WIN_NULL)), segments_(std::move(other.segments_)) {}

SharedWindow& SharedWindow::operator=(SharedWindow&& other) noexcept {
  std::swap(window_, other.window_);
  std::swap(segments_, other.segments_);
  return *this;
}

SharedWindow::~SharedWindow() {
  if (window_ == MPI_WIN_NULL) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Win_free(&window_);
}

}  // namespace plait::mpi
