#include "plait/io/byte_order.hpp"

#include <cstdint>
#include <cstring>

#include "plait/base/contract.hpp"

namespace plait::io {

namespace {

constexpr std::uint16_t reversed(std::uint16_t value) { return __builtin_bswap16(value); }
constexpr std::uint32_t reversed(std::uint32_t value) { return __builtin_bswap32(value); }
constexpr std::uint64_t reversed(std::uint64_t value) { return __builtin_bswap64(value); }

// Through memcpy, as the data may be of any type and alignment; compilers make single loads and stores of it.
template <class Word>
void swap_words(std::span<std::byte> data) {
  std::byte* const first = data.data();
  const std::size_t size = data.size();
  for (std::size_t at = 0; at < size; at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, first + at, sizeof(Word));
    word = reversed(word);
    std::memcpy(first + at, &word, sizeof(Word));
  }
}

}  // namespace

void swap_bytes(std::span<std::byte> data, Index unit) {
  PLAIT_ASSERT(unit > 0 && data.size() % static_cast<std::size_t>(unit) == 0, "the data is a number of whole units");
  switch (unit) {
    case 1: return;
    case 2: return swap_words<std::uint16_t>(data);
    case 4: return swap_words<std::uint32_t>(data);
    case 8: return swap_words<std::uint64_t>(data);
    default: PLAIT_ASSERT(false, "a number has 1, 2, 4 or 8 bytes");
  }
}

}  // namespace plait::io
