#include "support/allocated_bytes.hpp"

#include <execinfo.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

// Compiled by itself and not in a test: there the compiler would see through `new` but not through `delete`, and warn
// of a mismatch.

namespace {

std::atomic<std::size_t> bytes_so_far = 0;
std::atomic<bool> is_to_fail = false;
std::mutex of_failures;  // guards the following
std::size_t passed_over = 0;
std::size_t allocations = 0;
std::optional<std::size_t> failed;

/// Calls that lead to an allocation, the innermost of them.
struct Place {
  std::uint64_t name = 0;  // 0: none
  std::size_t visits = 0;
};
constexpr std::size_t most_places = std::size_t{1} << 16;
std::array<Place, most_places> places;

Place& place_of_caller() noexcept {
  std::array<void*, 10> calls{};
  const int count = backtrace(calls.data(), static_cast<int>(calls.size()));
  std::uint64_t name = 1;
  for (int i = 0; i < count; ++i) {
    name = (name ^ reinterpret_cast<std::uintptr_t>(calls[static_cast<std::size_t>(i)])) * 0x9e3779b97f4a7c15U;
    name ^= name >> 29U;
  }
  std::size_t at = name % most_places;
  while (places[at].name != 0 && places[at].name != name) at = (at + 1) % most_places;
  places[at].name = name;
  return places[at];
}

bool fails_now() noexcept {
  if (!is_to_fail) return false;
  const std::lock_guard lock(of_failures);
  if (allocations++ < passed_over) return false;
  const std::size_t visit = ++place_of_caller().visits;
  if (visit != 1 && visit != 4) return false;
  is_to_fail = false;
  failed = allocations - 1;
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

void fail_allocation_after(std::size_t others) noexcept {
  if (others == 0) places.fill({});
  passed_over = others;
  allocations = 0;
  failed.reset();
  is_to_fail = true;
}

std::optional<std::size_t> failed_allocation() noexcept {
  is_to_fail = false;
  return std::exchange(failed, std::nullopt);
}

}  // namespace plait::test
