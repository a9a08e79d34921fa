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
};

/// For double and float.
/// \pre  is_supported(isa)
template <class T>
[[nodiscard]] NearestKernels<T> nearest_kernels(Isa isa = selected_isa());

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
