#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "plait/base/index.hpp"

namespace plait {

/// Uninitialised memory that begins on a cache line. From 4 MiB on it begins on a huge page and the kernel is asked for
/// huge pages, which saves most of the page faults and TLB misses of large matrices.
///
/// \throws std::bad_alloc
[[nodiscard]] void* allocate_aligned(std::size_t bytes);
void free_aligned(void* memory) noexcept;

/// Such memory as an owner.
class Buffer {
 public:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

  Buffer() noexcept = default;
  explicit Buffer(Index bytes);

  [[nodiscard]] std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] Index size() const noexcept { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_.get(), static_cast<std::size_t>(size_)}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { free_aligned(memory); }
  };
  std::unique_ptr<std::byte, Free> data_;
  Index size_ = 0;
};

/// A `Buffer` of `count` elements of a trivial type.
template <class T>
  requires std::is_trivially_copyable_v<T>
class Array {
 public:
  Array() noexcept = default;
  explicit Array(Index count) : buffer_(count * Index{sizeof(T)}), size_(count) {}

  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(buffer_.data()); }
  [[nodiscard]] Index size() const noexcept { return size_; }
  [[nodiscard]] std::span<T> span() const noexcept { return {data(), static_cast<std::size_t>(size_)}; }
  [[nodiscard]] T& operator[](Index i) const noexcept { return data()[i]; }

 private:
  Buffer buffer_;
  Index size_ = 0;
};

/// A vector in such memory.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(allocate_aligned(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { free_aligned(memory); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace plait
