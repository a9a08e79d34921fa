#pragma once

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

/// When the next block of rows is fetched: not at all, beside the second pass over a block, or beside both.
enum class FetchAhead : unsigned char { none, late, throughout };

/// How many rows a sweep takes at a time, and what it fetches meanwhile.
struct RowBlocks {
  Index rows = 1;
  FetchAhead ahead = FetchAhead::none;
};

/// A block is passed through twice, the second time from the second-level cache. Where eight rows, the next eight and
/// the vectors that belong to the columns have room there, the next block is fetched meanwhile: long rows of small
/// elements throughout. Four rows at a time otherwise, and the processor finds by itself what comes next.
[[nodiscard]] RowBlocks row_blocks(Index columns, Index element_bytes, Index cache_bytes);

/// Rows [first, first + count) of row-major rows.
template <class T>
[[nodiscard]] simd::RowBlock<T> block_of(matrix_view<T> rows, Index first, Index count) {
  return {rows.data() + first * rows.leading_dimension(), count, rows.columns(), rows.leading_dimension()};
}

}  // namespace plait::sinkhorn
