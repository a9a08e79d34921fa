#include "plait/base/zeroed.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>

#include "plait/base/memory.hpp"

namespace plait {

namespace {

constexpr std::size_t unit = Buffer::huge_page_bytes;

bool is_mapped(std::size_t bytes) { return bytes >= 2 * unit; }

std::size_t mapped_bytes(std::size_t bytes) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

// A mapping that is longer by a huge page has one that begins on a huge page; what is before and behind it is given
// back.
void* allocate_zeroed(std::size_t bytes) {
  if (!is_mapped(bytes)) return std::memset(allocate_aligned(bytes), 0, bytes);
  const std::size_t length = mapped_bytes(bytes);
  void* const mapping = ::mmap(nullptr, length + unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(mapping);
  const std::size_t before = (unit - reinterpret_cast<std::uintptr_t>(begin) % unit) % unit;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + length, unit - before);
  ::madvise(begin + before, length, MADV_HUGEPAGE);  // only advice: where it fails, ordinary pages serve
  constexpr std::size_t page = 4096;                 // the least one
  for (std::size_t at = before; at < before + length; at += page) begin[at] = std::byte{0};
  return begin + before;
}

void free_zeroed(void* memory, std::size_t bytes) noexcept {
  is_mapped(bytes) ? void(::munmap(memory, mapped_bytes(bytes))) : free_aligned(memory);
}

}  // namespace plait
