#include "plait/mpi/node/shared_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::mpi {

namespace {

// Of the free shared memory: other plans, other jobs and MPI itself want some, too.
constexpr Index share_of_free = 4;
// Sizes are rounded to a few different ones, so that what one lease gives back serves the next.
constexpr Index least_segment = Index{64} << 10;
// Where there is plenty already, a segment may be so many times as long as what is asked for.
constexpr Index most_excess = 4;

Index rounded(Index bytes) {
  return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(std::max(bytes, least_segment))));
}

}  // namespace

SharedPool::SharedPool(const Communicator& node, Index plenty)
    : node_(&node), plenty_(plenty), capacity_(free_shared_memory() / share_of_free) {
  with_memory_on_all_ranks(node, [&] { idle_.reserve(1); });
  capacity_ = all_reduce(node, capacity_, Operation::minimum());
}

bool SharedPool::has_room_for_another() noexcept {
  try {
    if (!spare_) spare_ = std::make_unique<Entry>();
    entries_.reserve(entries_.size() + 1);
    idle_.reserve(entries_.size() + 2);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::span<const Index> SharedPool::idle_on_all_ranks() {
  const bool has_room = has_room_for_another();
  idle_.assign(1, has_room ? 1 : 0);  // within what was reserved when the last entry came
  for (const auto& entry : entries_) idle_.push_back(entry->idle ? 1 : 0);
  all_reduce(*node_, std::span<Index>(idle_), Operation::minimum());
  if (idle_.front() == 0) throw OutOfMemory("shared memory of the node: a rank has no memory to keep track of it");
  return std::span<const Index>(idle_).subspan(1);
}

Index SharedPool::held_bytes() const noexcept {
  Index sum = 0;
  for (const auto& entry : entries_) sum += static_cast<Index>(entry->window.segment(0).size());
  return sum;
}

// Where many leases live long and some are longer than the others, in the end all segments would be as long as the
// longest if short leases always took long ones.
SharedPool::Lease SharedPool::lease(Index bytes, Index zeroed) {
  const auto size = [](const auto& entry) { return static_cast<Index>(entry->window.segment(0).size()); };
  // Ranks may have given back different ones; from here on they decide alike.
  const std::span<const Index> idle = idle_on_all_ranks();
  auto smallest = entries_.end();
  auto other = entries_.end();
  const Index longest = held_bytes() < plenty_ ? std::numeric_limits<Index>::max() : most_excess * rounded(bytes);
  for (std::size_t i = 0; i < idle.size(); ++i) {
    const auto it = entries_.begin() + static_cast<std::ptrdiff_t>(i);
    if (idle[i] == 0) continue;
    if (size(*it) < bytes || size(*it) > longest) {
      other = it;
    } else if (smallest == entries_.end() || size(*it) < size(*smallest)) {
      smallest = it;
    }
  }
  if (smallest == entries_.end()) {
    // Of no use for this lease, so probably for the next ones, too.
    if (other != entries_.end()) entries_.erase(other);
    spare_->window = SharedWindow(*node_, rounded(bytes));
    entries_.push_back(std::move(spare_));
    smallest = entries_.end() - 1;
  }
  Entry& entry = **smallest;
  entry.idle = false;
  std::memset(entry.window.segment(node_->rank()).data(), 0, static_cast<std::size_t>(zeroed));
  barrier(*node_);
  return Lease(entry);
}

}  // namespace plait::mpi
