#pragma once

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

/// How many rows of a matrix are taken at a time where they are passed through twice and the next ones are fetched
/// meanwhile: as many as the kernels take, or half of them where so many are longer than several second-level caches.
/// (The second pass then finds most of a block in the third one.)
[[nodiscard]] Index rows_at_a_time(Index columns, Index element_bytes);

/// Rows [first, first + count) of row-major rows.
template <class T>
[[nodiscard]] simd::RowBlock<T> block_of(matrix_view<T> rows, Index first, Index count) {
  return {rows.data() + first * rows.leading_dimension(), count, rows.columns(), rows.leading_dimension()};
}

}  // namespace plait::sinkhorn
