#pragma once

#include <span>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

/// entries[j] ← K(i, j) v[j] u
template <class T, class A>
void scaled_row(matrix_view<const T> rows, Index i, A u, std::span<const A> v, std::span<A> entries) {
  const T* row = rows.data() + i * rows.leading_dimension();
  for (std::size_t j = 0; j < v.size(); ++j) entries[j] = simd::widened<A>(row[j]) * v[j] * u;
}

}  // namespace plait::sinkhorn
