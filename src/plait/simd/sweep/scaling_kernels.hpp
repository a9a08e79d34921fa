#pragma once

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/row_block.hpp"

/// What the scaling of a matrix is made of, for a few rows at a time, so that what one kernel has read comes from a
/// cache for the next one. Elements T are computed with as numbers A (`ComputedAs`). The order of additions depends on
/// the instruction set; relative errors are those of sums of `columns` (`rows`) addends at most.
namespace plait::simd {

/// As many rows are computed with at a time; more in one block are taken in turns.
inline constexpr Index most_rows_at_a_time = 8;

/// The kernels of one instruction set. Blocks may be empty; `ahead` has at least as many columns as the block, or no
/// rows.
template <class T, class A>
  requires ComputedAs<T, A>
struct ScalingKernels {
  /// sums[i] = Σ_j K(i, j) v[j]
  void (*row_sums)(RowBlock<const T> k, const A* v, A* sums, RowsAhead<T> ahead);

  /// c[j] += Σ_i u[i] K(i, j)
  void (*column_sums)(RowBlock<const T> k, const A* u, A* c, RowsAhead<T> ahead);

  /// K(i, j) ← u[i] K(i, j) v[j], rounded to T;  c[j] += Σ_i of it, before rounding
  void (*rescale)(RowBlock<T> k, const A* u, const A* v, A* c, RowsAhead<T> ahead);

  /// K(i, j) ← K(i, j) v[j], rounded to T
  void (*multiply_columns)(RowBlock<T> k, const A* v);
};

/// \pre  is_supported(isa)
template <class T, class A>
  requires ComputedAs<T, A>
[[nodiscard]] ScalingKernels<T, A> scaling_kernels(Isa isa = selected_isa());

}  // namespace plait::simd
