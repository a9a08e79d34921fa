#pragma once

#include <cstdint>

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::simd {

/// So many points lie in one panel: element c·nearest_points + p of it is coordinate c of its p-th point.
inline constexpr Index nearest_points = 32;

/// Which of some centres, the rows of a block, is nearest to points. A squared distance is
///
///     d = Σ_c (x(c) - y(c))²,
///
/// added up coordinate by coordinate: on one instruction set the same bits, whichever kernel computes it and in
/// whatever place. Differences are squared, so its relative error is (coordinates + 2) roundings at most, unless it is
/// beyond the range of numbers.
template <class T>
struct NearestKernels {
  /// Of each point of a panel: the least squared distance, to which centre (the first of several; a whole number), and
  /// the least to any of the others, infinite where there are none.
  /// \pre  there is a centre
  void (*nearest_two)(const T* panel, RowBlock<const T> centres, T* least, T* place, T* second);
  /// The same without the last.
  void (*nearest)(const T* panel, RowBlock<const T> centres, T* least, T* place);
  /// d[i] of row rows[i] of x to centre of[i].
  void (*own)(RowBlock<const T> x, const Index* rows, Index count, RowBlock<const T> centres, const std::int32_t* of,
              T* d);
  /// Fills a panel with rows[p] of x, count <= nearest_points, less an origin and times a power of two.
  void (*narrow)(RowBlock<const T> x, const std::int32_t* rows, Index count, const T* origin, T scale, float* panel);
};

/// For double and float.
/// \pre  is_supported(isa)
template <class T>
[[nodiscard]] NearestKernels<T> nearest_kernels(Isa isa = selected_isa());

/// Centres in single precision, less an origin near points and centres, for bounds of squared distances to them:
///
///     d/2 = |x|²/2 - x · c + |c|²/2
///
/// to rounding, by which it is off by error · (|x|² + |c|²) at most. Where points and centres are of one size that is
/// little beside most distances, and it takes half the operations of `NearestKernels`, on twice as many numbers at a
/// time.
struct NarrowCentres {
  RowBlock<const float> rows;
  const float* half;   ///< |c|²/2 - error · |c|²
  const float* slack;  ///< 4 · error · |c|²
  float error;

  static constexpr float least = 0x1p-120F;  ///< differences up to this say nothing
  /// What `error` has to be where distances are those of T, of so many coordinates.
  template <class T>
  [[nodiscard]] static float error_of(Index coordinates) noexcept {
    return static_cast<float>(sizeof(T) == sizeof(float) ? 4 * coordinates + 32 : 2 * coordinates + 16) * 0x1p-24F;
  }
};

/// Of each point of a panel of numbers less the origin: a centre, an upper bound of its squared distance, and a lower
/// bound of those of all others, infinite where there are none. Where the former is less, no other one is as near:
/// bit p of the result is set where that is not so for point p.
using NearestBoundsKernel = std::uint32_t(const float* panel, const NarrowCentres& centres, float* upper, float* lower,
                                          std::int32_t* place);
[[nodiscard]] NearestBoundsKernel* nearest_bounds_kernel(Isa isa = selected_isa());

/// Bounds of distances at a time when centres have moved since. All of `count` points have an upper one to the centre
/// `of` each and a lower one to all other centres; centre j has moved by `moved[j]` at most, all by `fall` at most.
struct MovedBounds {
  const float* upper;
  const float* lower;
  const std::int32_t* of;
  const float* moved;
  float fall;
  float slack;  ///< what bounds may be off by, relative
  float least;  ///< differences up to this say nothing
};

/// Finds those points for which  upper + moved < lower - fall  is not sure; returns how many, their places in
/// `doubtful` ascending. There is room for all of them, and 15 more.
using DoubtfulKernel = Index(const MovedBounds& bounds, Index count, std::int32_t* doubtful);
[[nodiscard]] DoubtfulKernel* doubtful_kernel(Isa isa = selected_isa());

}  // namespace plait::simd
