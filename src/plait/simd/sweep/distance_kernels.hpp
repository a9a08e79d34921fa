#pragma once

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::simd {

/// So many points lie in one panel: element k·panel_points + j of a panel is coordinate k of its j-th point. What a
/// panel lacks of points is there, as zeros.
inline constexpr Index panel_points = 16;

/// How many panels hold so many points.
[[nodiscard]] constexpr Index panels_of(Index points) noexcept { return (points + panel_points - 1) / panel_points; }

/// Distances of a few points, the rows of x, to all points of some panels, one after the other in y:
///
///     d(i, j) = Σ_k |x(i, k) - y(j, k)|^p,  p = 1 or 2
///
/// Differences are squared rather than squares and products subtracted, which costs one operation more a coordinate:
/// near points then have a distance with a relative error of (coordinates + 2) roundings at most.
///
/// \pre  d has as many rows as x and panels · panel_points columns, all of which are written
template <class A>
struct DistanceKernels {
  void (*squared)(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d);    ///< p = 2
  void (*euclidean)(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d);  ///< the root of that
  void (*cityblock)(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d);  ///< p = 1
};

/// For double and float.
/// \pre  is_supported(isa)
template <class A>
[[nodiscard]] DistanceKernels<A> distance_kernels(Isa isa = selected_isa());

}  // namespace plait::simd
