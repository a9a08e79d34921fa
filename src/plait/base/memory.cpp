#include "plait/base/memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "plait/base/contract.hpp"

namespace plait {

void* allocate_aligned(std::size_t bytes) {
  const bool is_large = bytes >= 2 * Buffer::huge_page_bytes;
  const std::size_t unit = is_large ? Buffer::huge_page_bytes : Buffer::alignment;
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  void* const memory = std::aligned_alloc(unit, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  if (is_large) ::madvise(memory, rounded, MADV_HUGEPAGE);  // only advice: where it fails, ordinary pages serve
  return memory;
}

void free_aligned(void* memory) noexcept { std::free(memory); }

Buffer::Buffer(Index bytes) : size_(bytes) {
  PLAIT_ASSERT(bytes >= 0, "a buffer has no negative size");
  if (bytes > 0) data_.reset(static_cast<std::byte*>(allocate_aligned(static_cast<std::size_t>(bytes))));
}

}  // namespace plait
