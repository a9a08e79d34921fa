#include "plait/mpi/staging.hpp"

#include <algorithm>
#include <utility>

namespace plait::mpi {

StagingPool::Lease& StagingPool::Lease::operator=(Lease&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(memory_, other.memory_);
  return *this;
}

StagingPool::Lease::~Lease() {
  // lease() made room for every buffer that is out, so this can't allocate.
  if (pool_ != nullptr && memory_.size() > 0) pool_->idle_.push_back(std::move(memory_));
}

StagingPool::Lease StagingPool::lease(Index bytes) {
  if (bytes == 0) return {};
  auto smallest = idle_.end();
  for (auto it = idle_.begin(); it != idle_.end(); ++it) {
    if (it->size() >= bytes && (smallest == idle_.end() || it->size() < smallest->size())) smallest = it;
  }
  if (smallest != idle_.end()) {
    Buffer memory = std::move(*smallest);
    idle_.erase(smallest);
    return {*this, std::move(memory)};
  }
  // Too small for this lease, so probably for the next ones, too: memory that grows piece by piece is given back.
  if (!idle_.empty()) idle_.erase(idle_.begin());
  Buffer memory(bytes);
  idle_.reserve(idle_.capacity() + 1);
  return {*this, std::move(memory)};
}

Index StagingPool::held_bytes() const noexcept {
  Index bytes = 0;
  for (const Buffer& memory : idle_) bytes += memory.size();
  return bytes;
}

}  // namespace plait::mpi
