#pragma once

#include <cstddef>
#include <cstdint>

#include "plait/base/index.hpp"
#include "plait/simd/transform/transpose.hpp"

namespace plait::simd {

inline constexpr Index line_bytes = 64;

/// A matrix and where its transpose goes; strides in bytes between columns.
struct Transposition {
  Index rows;
  Index columns;
  const std::byte* source;
  Index source_stride;
  std::byte* target;
  Index target_stride;

  template <Index element>
  [[nodiscard]] Transposition part(Index row, Index column, Index part_rows, Index part_columns) const {
    return {part_rows,
            part_columns,
            source + row * element + column * source_stride,
            source_stride,
            target + column * element + row * target_stride,
            target_stride};
  }

  [[nodiscard]] Transposition run(const ElementRun& rows_of_source, Index element_bytes) const {
    return {rows_of_source.length,
            columns,
            source + rows_of_source.source * element_bytes,
            source_stride,
            target + rows_of_source.target * target_stride,
            target_stride};
  }
  template <Index element>
  [[nodiscard]] Transposition run(const ElementRun& rows_of_source) const {
    return run(rows_of_source, element);
  }
};

[[nodiscard]] inline Index bytes_past_line(const std::byte* address) {
  return static_cast<Index>(reinterpret_cast<std::uintptr_t>(address) % line_bytes);
}

template <Index element>
[[nodiscard]] Index elements_to_line(const std::byte* address) {
  return (line_bytes - bytes_past_line(address)) % line_bytes / element;
}

/// Columns that begin so many bytes apart, at the same places of pages or nearly, push each other out of the caches.
[[nodiscard]] constexpr bool columns_collide(Index stride) {
  constexpr Index page = 4096;
  return stride % (page / 2) == 0;
}

[[nodiscard]] inline Index line_before(Index bytes) { return bytes / line_bytes * line_bytes; }

}  // namespace plait::simd
