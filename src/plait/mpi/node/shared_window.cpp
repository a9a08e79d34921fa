#include "plait/mpi/node/shared_window.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::mpi {

namespace {

// What segments of these sizes take together, or the largest number if that is more.
Index total_bytes(const std::vector<Index>& sizes) {
  constexpr Index most = std::numeric_limits<Index>::max();
  constexpr Index page = 4096;
  Index total = 0;
  for (const Index size : sizes) {
    if (size > most - page - total) return most;
    total += rounded_up(size, page);
  }
  return total;
}

std::string out_of_memory(const char* what, int error) {
  return std::string("shared memory of the node: ") + what + ": " + std::strerror(error);
}

// What became of making a window on a rank; all take the worst.
enum Outcome : Index { made, unreachable, too_large };

}  // namespace

Index free_shared_memory() {
  const Index free = free_for_shared_files();
  return free < 0 ? std::numeric_limits<Index>::max() : free;
}

SharedWindow::SharedWindow(const Communicator& node, Index bytes) {
  PLAIT_ASSERT(bytes >= 0, "a segment has no negative size");
  using SizeAndFree = std::array<Index, 2>;
  std::vector<SizeAndFree> of_ranks;
  std::vector<Index> sizes;
  std::vector<SharedFile::Address> addresses;
  with_memory_on_all_ranks(node, [&] {
    const auto ranks = static_cast<std::size_t>(node.size());
    of_ranks.resize(ranks);
    sizes.reserve(ranks);
    addresses.resize(ranks);
    segments_.resize(ranks);
  });
  const SizeAndFree own{bytes, free_shared_memory()};
  all_gather_bytes(node, std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(of_ranks)));
  Index available = std::numeric_limits<Index>::max();
  for (const auto& [size, free] : of_ranks) {
    sizes.push_back(size);
    available = std::min(available, free);
  }
  const Index wanted = total_bytes(sizes);
  if (wanted > available) {
    throw OutOfMemory("shared memory of the node: " + std::to_string(wanted) + " bytes wanted, " +
                      std::to_string(available) + " free in /dev/shm");
  }

  if (map(node, sizes, addresses, SharedFile::without_name).empty()) return;
  const std::string reason = map(node, sizes, addresses, SharedFile::with_name);
  if (!reason.empty()) throw OutOfMemory(reason);
}

// Everybody makes a segment, then opens those of the others, then nobody needs the files any more.
std::string SharedWindow::map(const Communicator& node, std::span<const Index> sizes,
                              std::span<SharedFile::Address> addresses, SharedFile (*make)()) {
  for (SharedMapping& segment : segments_) segment = {};
  Outcome outcome = made;
  std::string failure;
  const auto attempt = [&](int rank, auto&& open) {
    const Index size = sizes[static_cast<std::size_t>(rank)];
    if (size == 0 || outcome != made) return SharedFile();
    SharedFile file = open();
    if (!file.is_open()) {
      outcome = unreachable;
      failure = out_of_memory("a file in /dev/shm", errno);
      return file;
    }
    try {
      SharedMapping segment(file, size);
      if (const int error = rank == node.rank() ? take_memory(file, segment) : 0; error != 0) {
        throw OutOfMemory(out_of_memory("posix_fallocate", error));
      }
      segments_[static_cast<std::size_t>(rank)] = std::move(segment);
    } catch (const OutOfMemory& error) {
      outcome = too_large;
      failure = error.what();
    }
    return file;
  };
  const SharedFile own = attempt(node.rank(), make);
  all_gather_bytes(node, std::as_bytes(std::span(&own.address(), 1)), std::as_writable_bytes(addresses));
  for (int rank = 0; rank < node.size(); ++rank) {
    const auto of_other = [&] { return SharedFile::of_other(addresses[static_cast<std::size_t>(rank)]); };
    if (rank != node.rank()) static_cast<void>(attempt(rank, of_other));
  }
  const Index worst = all_reduce(node, Index{outcome}, Operation::maximum());
  if (worst != made && failure.empty()) failure = "shared memory of the node: another rank has none";
  if (worst == too_large) throw OutOfMemory(failure);
  return failure;
}

}  // namespace plait::mpi
