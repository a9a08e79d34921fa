#pragma once

#include <cstddef>
#include <span>

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/stores.hpp"
#include "plait/simd/transform/element_run.hpp"

namespace plait::simd {

/// What is done to the elements of a matrix that is transposed, while they are in the first-level cache: `apply`
/// changes `count` elements in place, which it gets in any order. It may get one several times, each time as the source
/// has it.
struct ElementTransform {
  void (*apply)(const void* context, std::byte* elements, Index count);
  const void* context;
};

/// All rows of runs.
[[nodiscard]] inline Index rows_of(std::span<const ElementRun> runs) {
  Index rows = 0;
  for (const ElementRun& run : runs) rows += run.length;
  return rows;
}

/// `transpose` of runs of rows, then `transform`, if there is one, in a single pass where it streams.
void transpose_transformed(std::span<const ElementRun> runs, Index columns, const std::byte* source, Index source_ld,
                           std::byte* target, Index target_ld, Index element_bytes, Isa isa, Stores stores,
                           const ElementTransform* transform);

}  // namespace plait::simd
