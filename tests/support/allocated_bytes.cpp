#include "support/allocated_bytes.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

// Beside the tests and not among them: there the compiler would see through `new` but not through `delete`, and warn of
// a mismatch.

namespace {

std::atomic<std::size_t> bytes_so_far = 0;

void* allocate(std::size_t bytes) noexcept {
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
  bytes_so_far += bytes;
  return expect_memory(std::aligned_alloc(line, (bytes + line - 1) / line * line));
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace plait::test {

std::size_t allocated_bytes() noexcept { return bytes_so_far; }

}  // namespace plait::test
