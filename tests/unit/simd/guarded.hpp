#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/random.hpp"

namespace plait::simd::test {

/// Bytes that begin `offset` past a 64-byte boundary, between margins which, like the bytes themselves, hold a pattern
/// to begin with. Two of them with one call's result and its reference's are equal if and only if nothing else was
/// written.
class Guarded {
 public:
  Guarded(Index bytes, Index offset, std::uint64_t pattern)
      : storage_(static_cast<std::size_t>(bytes + 2 * margin + 128)), size_(bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    begin_ = static_cast<Index>((64 - address % 64) % 64) + margin + offset % 64;
    std::byte* first = data() - margin;
    for (Index i = 0; i < whole_size(); i += 8) {
      const std::uint64_t eight = random_bits(pattern, static_cast<std::uint64_t>(i));
      std::memcpy(first + i, &eight, static_cast<std::size_t>(std::min(Index{8}, whole_size() - i)));
    }
  }

  [[nodiscard]] std::byte* data() { return storage_.data() + begin_; }
  [[nodiscard]] const std::byte* data() const { return storage_.data() + begin_; }

  friend bool operator==(const Guarded& a, const Guarded& b) {
    return a.size_ == b.size_ &&
           std::memcmp(a.data() - margin, b.data() - margin, static_cast<std::size_t>(a.whole_size())) == 0;
  }

 private:
  static constexpr Index margin = 128;
  [[nodiscard]] Index whole_size() const { return size_ + 2 * margin; }

  std::vector<std::byte> storage_;
  Index size_;
  Index begin_ = 0;
};

}  // namespace plait::simd::test
