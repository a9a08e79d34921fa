#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/node/shared_window.hpp"

namespace plait::mpi {

/// Memory that the ranks of a node share, for data under way between them. A lease gives its memory back to the pool,
/// which keeps it for the next one. The ranks of a node take leases in the same order, and give them back as they like.
class SharedPool {
  struct Entry {
    SharedWindow window;
    bool idle = false;
  };

 public:
  /// Bytes of a rank's segments from which on short leases take no long ones.
  static constexpr Index usual_plenty = Index{128} << 20;

  /// Collective over `node`, which outlives the pool.
  explicit SharedPool(const Communicator& node, Index plenty = usual_plenty);

  class Lease {
   public:
    Lease() noexcept = default;
    explicit Lease(Entry& entry) noexcept : entry_(&entry) {}
    Lease(Lease&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(entry_, other.entry_);
      return *this;
    }
    ~Lease() {
      if (entry_ != nullptr) entry_->idle = true;
    }

    /// The segment of `rank` of the node, from a cache line on.
    [[nodiscard]] std::span<std::byte> segment(int rank) const { return entry_->window.segment(rank); }

   private:
    Entry* entry_ = nullptr;
  };

  /// A segment of at least `bytes` bytes for each rank, the first `zeroed` of them zero. Collective over the node, with
  /// the same numbers.
  /// \throws OutOfMemory  on every rank of the node, if it has too little shared memory
  [[nodiscard]] Lease lease(Index bytes, Index zeroed);

  /// What all segments together may take, in bytes: a part of the shared memory that was free at first. The same on all
  /// ranks of the node.
  [[nodiscard]] Index capacity() const noexcept { return capacity_; }

  /// Of this rank's segments, leased or not.
  [[nodiscard]] Index held_bytes() const noexcept;

 private:
  /// Whether there is memory to keep track of one entry more.
  [[nodiscard]] bool has_room_for_another() noexcept;
  /// Of each entry, whether it is idle everywhere.
  [[nodiscard]] std::span<const Index> idle_on_all_ranks();

  const Communicator* node_;
  Index plenty_;
  Index capacity_;
  std::vector<std::unique_ptr<Entry>> entries_;  // in the same order on all ranks
  std::unique_ptr<Entry> spare_;                 // the next one, so that no rank alone can lack memory for it
  std::vector<Index> idle_;                      // room for what a lease asks of all ranks, taken before it is needed
};

}  // namespace plait::mpi
