#include "plait/base/memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "plait/base/contract.hpp"

namespace plait {

namespace {

constexpr std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Buffer::Buffer(Index bytes) : size_(bytes) {
  PLAIT_ASSERT(bytes >= 0, "a buffer has no negative size");
  if (bytes == 0) return;
  const bool huge = bytes >= Index{2} * static_cast<Index>(huge_page_bytes);
  const std::size_t unit = huge ? huge_page_bytes : alignment;
  const std::size_t rounded = round_up(static_cast<std::size_t>(bytes), unit);
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(unit, rounded)));
  if (!data_) throw std::bad_alloc();
  if (huge) ::madvise(data_.get(), rounded, MADV_HUGEPAGE);  // only advice: where it fails, ordinary pages serve
}

void Buffer::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }

}  // namespace plait
