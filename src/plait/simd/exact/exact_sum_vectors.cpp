#include <algorithm>
#include <cstddef>

#include "plait/simd/default_arithmetic.hpp"
#include "plait/simd/dispatch.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/exact/exact_sum_vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/exact/two_sum.inl"
// clang-format on

#ifndef PLAIT_SIMD_EXACT_SUM_VECTORS_ONCE
#define PLAIT_SIMD_EXACT_SUM_VECTORS_ONCE

namespace plait::simd {

namespace {

template <class T>
using AddKernel = void(ExactSum& sum, Index n, const T* addends);

template <class T>
void add_one_by_one(ExactSum& sum, Index n, const T* addends) {
  for (Index i = 0; i < n; ++i) sum.add(double{addends[i]});
}

}  // namespace

}  // namespace plait::simd

#endif

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Adds the lanes of a sum, which are all -0 if the addends are.
template <class D>
void add_lanes(ExactSum& sum, D d, hn::VFromD<D> v, bool are_errors) {
  HWY_ALIGN double lanes[hn::MaxLanes(D())];
  hn::StoreU(v, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    if (!are_errors || lanes[i] != 0) sum.add(lanes[i]);  // an error of 0 says nothing of the addends
  }
}

/// n addends, a multiple of two vectors, by sums of doubles and `levels` sums of errors, one of those of the other.
/// False if these lose some bits, too; nothing is added then.
template <int levels, class T, class D>
bool add_block(ExactSum& sum, D d, Index n, const T* addends) {
  using V = hn::VFromD<D>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const V zero = hn::Zero(d);
  V lost = zero;
  V sum0 = hn::Set(d, -0.0);  // -0 + x = x, for all x
  V sum1 = sum0;
  V errors0 = zero;
  V errors1 = zero;
  V errors_of_errors0 = zero;
  V errors_of_errors1 = zero;
  for (Index i = 0; i < n; i += 2 * lanes) {
    const V x0 = load_real<T>(d, addends + i);
    const V x1 = load_real<T>(d, addends + i + lanes);
    if constexpr (levels == 1) {
      add(x0, sum0, errors0, lost);
      add(x1, sum1, errors1, lost);
    } else {
      V error0;
      V error1;
      sum0 = two_sum(sum0, x0, error0);
      sum1 = two_sum(sum1, x1, error1);
      add(error0, errors0, errors_of_errors0, lost);
      add(error1, errors1, errors_of_errors1, lost);
    }
  }
  if (!hn::AllTrue(d, hn::Eq(lost, zero))) return false;
  add_lanes(sum, d, sum0, false);
  add_lanes(sum, d, sum1, false);
  add_lanes(sum, d, errors0, true);
  add_lanes(sum, d, errors1, true);
  if constexpr (levels == 2) {
    add_lanes(sum, d, errors_of_errors0, true);
    add_lanes(sum, d, errors_of_errors1, true);
  }
  return true;
}

}  // namespace

template <class T>
void add_kernel_of_target(ExactSum& sum, Index n, const T* addends) {
  const hn::ScalableTag<double> d;
  const auto step = static_cast<Index>(2 * hn::Lanes(d));
  constexpr Index longest_block = 2048;  // short enough to lose no bits, long enough for its lanes not to matter
  Index i = 0;
  int levels = 1;  // what does for a block will often do for the next, and less will not
  while (i + step <= n) {
    const Index block = std::min(longest_block, (n - i) / step * step);
    if (levels == 1 && !add_block<1>(sum, d, block, addends + i)) levels = 2;
    if (levels == 2 && !add_block<2>(sum, d, block, addends + i)) levels = 3;
    if (levels == 3) {
      add_one_by_one(sum, block, addends + i);
      levels = 1;
    }
    i += block;
  }
  add_one_by_one(sum, n - i, addends + i);
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

template <class T>
constexpr KernelTable<AddKernel<T>> add_kernels(PLAIT_SIMD_KERNELS(&add_one_by_one<T>, add_kernel_of_target<T>));

}  // namespace

template <SummableReal T>
void add_to(ExactSum& sum, std::span<const T> addends, Isa isa) {
  const DefaultArithmetic arithmetic;
  add_kernels<T>[isa](sum, static_cast<Index>(addends.size()), addends.data());
}

template void add_to<float>(ExactSum&, std::span<const float>, Isa);
template void add_to<double>(ExactSum&, std::span<const double>, Isa);

}  // namespace plait::simd
#endif
