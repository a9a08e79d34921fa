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
///     d(i, j) = (Σ_k |x(i, k) - y(j, k)|^p)^(1/p)
///
/// Differences are squared rather than squares and products subtracted, which costs one operation more a coordinate:
/// near points then have a distance with a relative error of (coordinates + 2) roundings at most.
///
/// \pre  d has as many rows as x and panels · panel_points columns, all of which are written
template <class A>
struct DistanceKernels {
  using Kernel = void(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d);
  Kernel* squared;    ///< of p = 2 the square
  Kernel* euclidean;  ///< p = 2
  Kernel* cityblock;  ///< p = 1
  Kernel* chebyshev;  ///< p = infinity: the largest difference
  Kernel* inner;      ///< no distance, but the product: Σ_k x(i, k) y(j, k)
  /// For finite p >= 1, by differences as parts of the largest one, whose powers can't leave the range.
  void (*minkowski)(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d, A p);
  /// Takes the place of numbers >= 0 by them to a power > 0. With |power log2 d| roundings, unless that is a whole
  /// number of no more than 64.
  void (*raise)(A* d, Index count, A power);
};

/// For double and float.
/// \pre  is_supported(isa)
template <class A>
[[nodiscard]] DistanceKernels<A> distance_kernels(Isa isa = selected_isa());

}  // namespace plait::simd
