#pragma once

#include <cstddef>

#include "plait/base/index.hpp"
#include "plait/simd/transform/transpose.hpp"

namespace plait::simd {

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

}  // namespace plait::simd
