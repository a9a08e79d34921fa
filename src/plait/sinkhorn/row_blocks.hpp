#pragma once

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

/// How many rows a sweep takes at a time, and whether it fetches the next ones meanwhile.
struct RowBlocks {
  Index rows = 1;
  bool fetches_ahead = false;
};

/// A block is read twice, the second time from the second-level cache; the next one is fetched beside it if both, the
/// vectors that belong to the columns and the lines of other data have room.
[[nodiscard]] RowBlocks row_blocks(Index columns, Index element_bytes, Index cache_bytes);

/// Rows [first, first + count) of row-major rows.
template <class T>
[[nodiscard]] simd::RowBlock<T> block_of(matrix_view<T> rows, Index first, Index count) {
  return {rows.data() + first * rows.leading_dimension(), count, rows.columns(), rows.leading_dimension()};
}

}  // namespace plait::sinkhorn
