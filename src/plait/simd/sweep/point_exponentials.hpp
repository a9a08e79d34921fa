#pragma once

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/distance_kernels.hpp"

namespace plait::simd {

/// So many points x lie in one group: element k·group_points + i of a group is coordinate k of its i-th point.
inline constexpr Index group_points = 8;
/// As many of a group are computed with at a time: exponentials of all columns of more outgrow caches sooner than they
/// save loads of what columns have.
inline constexpr Index rows_of_points = 4;

/// What exponents are made of: points x of one group and y in panels, with a term of each.
template <class A>
struct PointTerms {
  const A* x;
  const A* a;
  Index coordinates;
  const A* y;
  const A* h;
};

/// What sums of columns have yet to get of the numbers that exponentials take the place of: c[j] += Σ_i u[i] e(i, j).
/// Each is read once for both: computing hides what that takes.
template <class A>
struct SumsBefore {
  const A* u = nullptr;  // of each row; null: there is nothing to add
  A* c = nullptr;
};

/// Exponentials of squared distances as products, for a few points x of one group and points y in panels:
///
///     e(i, j) = 2^(a[i] + h[j] + Σ_k x(i, k) y(j, k));   sums[i] = Σ_j e(i, j)
///
/// With x multiplied by 2 b / epsilon, b = 1 / log 2, and h[j] = b (g[j] - |y(j)|² / epsilon), a[i] likewise of f and
/// x, that is exp(f + g - |x - y|² / epsilon), by one operation a coordinate where differences take two. Below the
/// least normal number they are 0.
///
/// \pre  e has group_points rows at most, from those of one group on; y has panels for all columns
template <class A>
using PointExponentials = void(const PointTerms<A>& of, RowBlock<A> e, SumsBefore<A> before, A* sums);

/// For double and float.
/// \pre  is_supported(isa)
template <class A>
[[nodiscard]] PointExponentials<A>* point_exponentials(Isa isa = selected_isa());

}  // namespace plait::simd
