#pragma once

#include <cstdint>

#include "plait/base/index.hpp"

namespace plait::simd {

inline constexpr Index line_bytes = 64;

[[nodiscard]] inline Index bytes_past_line(const void* address) {
  return static_cast<Index>(reinterpret_cast<std::uintptr_t>(address) % line_bytes);
}

template <Index element>
[[nodiscard]] Index elements_to_line(const void* address) {
  return (line_bytes - bytes_past_line(address)) % line_bytes / element;
}

[[nodiscard]] inline Index line_before(Index bytes) { return bytes / line_bytes * line_bytes; }

/// Columns that begin so many bytes apart, at the same places of pages or nearly, push each other out of the caches.
[[nodiscard]] constexpr bool columns_collide(Index stride) {
  constexpr Index page = 4096;
  return stride % (page / 2) == 0;
}

}  // namespace plait::simd
