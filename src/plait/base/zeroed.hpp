#pragma once

#include <cstddef>
#include <vector>

namespace plait {

/// Memory as of `allocate_aligned` in which every byte is 0. From 4 MiB on the kernel hands it out so: each page is
/// touched, so that it is there and near to the core of the caller, but not written as a whole again.
///
/// \throws std::bad_alloc
[[nodiscard]] void* allocate_zeroed(std::size_t bytes);
/// \param bytes  as it was allocated with
void free_zeroed(void* memory, std::size_t bytes) noexcept;

/// Of vectors that are made with as many zeros as they are to have: elements that are given no value are left as memory
/// has them. So one that a vector has lost and gets again is not 0.
template <class T>
struct ZeroedAllocator {
  using value_type = T;
  ZeroedAllocator() = default;
  template <class U>
  explicit ZeroedAllocator(const ZeroedAllocator<U>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(allocate_zeroed(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept { free_zeroed(memory, count * sizeof(T)); }
  void construct(T* /*element*/) noexcept {}
  friend bool operator==(const ZeroedAllocator&, const ZeroedAllocator&) { return true; }
};
template <class T>
using ZeroedVector = std::vector<T, ZeroedAllocator<T>>;

}  // namespace plait
