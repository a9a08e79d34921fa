#pragma once

#include <cstddef>
#include <span>

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/stores.hpp"
#include "plait/simd/transform/element_run.hpp"

namespace plait::simd {

/// target(c, r) = source(r, c): a transposed copy of elements that nobody looks into.
///
/// `source` is column-major, rows × columns, its columns `source_ld` elements apart; `target` is column-major,
/// columns × rows, its columns `target_ld` elements apart. Any alignment will do; the fastest is a multiple of 64 bytes
/// for the target and for its columns' distance. What lies between the columns of the target is not written. Where the
/// target is larger than the caches, this takes about as long as `memcpy` of as many bytes, also with leading
/// dimensions that are powers of two.
///
/// \pre  rows >= 0 and columns >= 0
/// \pre  source_ld >= max(1, rows) and target_ld >= max(1, columns)
/// \pre  element_bytes is 1, 2, 4, 8 or 16
/// \pre  source and target do not overlap
/// \pre  is_supported(isa)
void transpose(Index rows, Index columns, const std::byte* source, Index source_ld, std::byte* target, Index target_ld,
               Index element_bytes, Isa isa = selected_isa(), Stores stores = Stores::automatic);

/// Transposes the product of runs of rows and runs of columns of the source, which are columns and rows of the target:
/// many small rectangles at the cost of one call. `Stores::automatic` does not stream.
///
/// \pre  runs are >= 0 long, and those of the target do not overlap; source and target do not overlap
/// \pre  element_bytes is 1, 2, 4, 8 or 16
/// \pre  is_supported(isa)
void transpose_runs(std::span<const ElementRun> rows, std::span<const ElementRun> columns, const std::byte* source,
                    Index source_ld, std::byte* target, Index target_ld, Index element_bytes, Isa isa = selected_isa(),
                    Stores stores = Stores::automatic);

}  // namespace plait::simd
