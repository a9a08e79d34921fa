#pragma once

#include <algorithm>
#include <array>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/sweep/row_blocks.hpp"

namespace plait::sinkhorn {

/// Calls f(first, block, ahead of the first pass, ahead of the second pass) for blocks of so many rows, one after the
/// other. Where a block is passed through twice, what is to be fetched meanwhile of the next one is divided among the
/// two.
template <class T, class F>
void for_each_block(matrix_view<T> rows, Index at_a_time, F&& f) {
  using Const = std::remove_const_t<T>;
  for (Index first = 0; first < rows.rows(); first += at_a_time) {
    const Index count = std::min(at_a_time, rows.rows() - first);
    const Index next = first + count;
    const Index ahead = std::min(at_a_time, rows.rows() - next);
    const Index early = ahead / 2;
    const auto part = [&](Index from, Index number) {
      const Index leading_dimension = rows.leading_dimension();
      return simd::RowsAhead<Const>{number == 0 ? nullptr : rows.data() + from * leading_dimension, number,
                                    rows.columns(), leading_dimension};
    };
    f(first, block_of(rows, first, count), part(next, early), part(next + early, ahead - early));
  }
}

template <class T>
[[nodiscard]] simd::RowBlock<const T> as_const(simd::RowBlock<T> block) {
  return {block.data, block.rows, block.columns, block.leading_dimension};
}

/// u[i] ← f(i, Σ_j K(i, j) v[j]);  c[j] += Σ_i u[i] K(i, j):  one read of the matrix.
template <class T, class A, class F>
void fused_sweep(const simd::ScalingKernels<T, A>& kernels, matrix_view<const T> rows, const A* v, A* u, A* c, F&& f) {
  std::array<A, simd::most_rows_at_a_time> sums{};
  for_each_block(rows, rows_at_a_time(rows.columns(), Index{sizeof(T)}),
                 [&](Index first, const auto& block, const auto& early, const auto& late) {
                   kernels.row_sums(block, v, sums.data(), early);
                   for (Index i = 0; i < block.rows; ++i)
                     u[first + i] = f(first + i, sums[static_cast<std::size_t>(i)]);
                   kernels.column_sums(block, u + first, c, late);
                 });
}

/// a[i] ← f(i, Σ_j K(i, j) b[j]);  K(i, j) ← a[i] K(i, j) b[j];  c[j] += Σ_i of that:  one read and one write.
template <class T, class A, class F>
void fused_sweep_in_place(const simd::ScalingKernels<T, A>& kernels, matrix_view<T> rows, const A* b, A* c, F&& f) {
  std::array<A, simd::most_rows_at_a_time> sums{};
  for_each_block(rows, rows_at_a_time(rows.columns(), Index{sizeof(T)}),
                 [&](Index first, const auto& block, const auto& early, const auto& late) {
                   kernels.row_sums(as_const(block), b, sums.data(), early);
                   for (Index i = 0; i < block.rows; ++i) {
                     A& sum = sums[static_cast<std::size_t>(i)];
                     sum = f(first + i, sum);
                   }
                   kernels.rescale(block, sums.data(), b, c, late);
                 });
}

}  // namespace plait::sinkhorn
