#include "support/allocated_bytes.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// Beside the tests and not among them: there the compiler would see through `new` but not through `delete`, and warn of
// a mismatch.

namespace {

constexpr std::ptrdiff_t never = -1;

std::atomic<std::size_t> bytes_so_far = 0;
std::atomic<std::ptrdiff_t> left_until_failure = never;
std::atomic<bool> has_failed = false;

bool fails_now() noexcept {
  if (left_until_failure == never || left_until_failure-- > 0) return false;
  has_failed = true;
  return true;
}

void* allocate(std::size_t bytes) noexcept {
  if (fails_now()) return nullptr;
  bytes_so_far += bytes;
  return std::malloc(bytes);
}

void* expect_memory(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return expect_memory(allocate(bytes)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto line = static_cast<std::size_t>(alignment);
  if (fails_now()) throw std::bad_alloc();
  bytes_so_far += bytes;
  return expect_memory(std::aligned_alloc(line, (bytes + line - 1) / line * line));
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace plait::test {

std::size_t allocated_bytes() noexcept { return bytes_so_far; }

void fail_allocation_after(std::size_t others) noexcept { left_until_failure = static_cast<std::ptrdiff_t>(others); }

bool has_failed_allocation() noexcept {
  left_until_failure = never;
  return has_failed.exchange(false);
}

}  // namespace plait::test
