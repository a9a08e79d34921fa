#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "plait/base/caches.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

/// The vectors of one of several problems that share a matrix.
template <class A>
struct BatchVectors {
  const A* v = nullptr;  // factors of the columns
  A* u = nullptr;        // those of this rank's rows
  A* sums = nullptr;     // where the columns are summed up
};

/// The sums Σ_j K(i, j) v[j] of a few rows.
template <class A>
using SumsOfBlock = std::array<A, simd::most_rows_at_a_time>;

/// For blocks of rows that stay in the second-level cache: calls f(first, count, sums of each problem), which is to set
/// all u[first...first + count), and adds u[i] K(i, j) to the sums of all columns j. The matrix is read once for all.
template <class T, class A, class F>
void batch_sweep(const simd::ScalingKernels<T, A>& kernels, matrix_view<const T> rows,
                 std::span<const BatchVectors<A>> problems, std::vector<SumsOfBlock<A>>& sums, F&& f) {
  constexpr Index usual_cache_bytes = Index{512} << 10;
  const Index cache = second_level_cache_bytes() > 0 ? second_level_cache_bytes() : usual_cache_bytes;
  const Index row_bytes = std::max(Index{1}, rows.columns()) * Index{sizeof(T)};
  const Index at_a_time = std::clamp(cache / 2 / row_bytes, Index{1}, simd::most_rows_at_a_time);
  for_each_block(rows, at_a_time, [&](Index first, const auto& block, const auto&, const auto&) {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      kernels.row_sums(block, problems[k].v, sums[k].data(), {});
    }
    f(first, block.rows, sums);
    for (const auto& problem : problems) kernels.column_sums(block, problem.u + first, problem.sums, {});
  });
}

}  // namespace plait::sinkhorn
