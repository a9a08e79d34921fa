#pragma once

#include <new>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"

namespace plait::mpi {

/// Memory for data under way. A lease gives its memory back to the pool, which keeps it for the next one: a repeated
/// operation allocates nothing. Not thread-safe, as the context that owns it.
class StagingPool {
 public:
  class Lease {
   public:
    Lease() noexcept = default;
    Lease(StagingPool& pool, Buffer memory) noexcept : pool_(&pool), memory_(std::move(memory)) {}
    Lease(Lease&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), memory_(std::move(other.memory_)) {}
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();
    [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }
    [[nodiscard]] Index size() const noexcept { return memory_.size(); }

   private:
    StagingPool* pool_ = nullptr;
    Buffer memory_;
  };

  /// At least `bytes` bytes, from what earlier leases gave back where that is large enough.
  /// \throws std::bad_alloc
  [[nodiscard]] Lease lease(Index bytes);

  /// Bytes that the pool keeps for later leases.
  [[nodiscard]] Index held_bytes() const noexcept;

  /// Frees what is not leased.
  void trim() noexcept { idle_.clear(); }

 private:
  std::vector<Buffer> idle_;
};

/// Memory that is kept for when there is no other: for what a rank does on its own account, but the others would wait
/// for.
class Reserve {
 public:
  explicit Reserve(Index bytes) noexcept : bytes_(bytes) {}

  /// What f returns. Where there is too little memory for it, it is called again with that of the reserve.
  /// \pre  f has done nothing where it throws
  template <class F>
  auto with(const F& f) {
    try {
      if (memory_.size() == 0) memory_ = Buffer(bytes_);
    } catch (const std::bad_alloc&) {  // perhaps none is needed
    }
    try {
      return f();
    } catch (const std::bad_alloc&) {
      if (memory_.size() == 0) throw;
    }
    memory_ = {};
    return f();
  }

 private:
  Index bytes_;
  Buffer memory_;
};

}  // namespace plait::mpi
