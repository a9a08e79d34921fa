#include "plait/simd/sweep/exponential_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/prefetch.hpp"
#include "plait/simd/sweep/scaling_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/sweep/exponential_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/sweep/element_vectors.inl"
#include "plait/simd/sweep/exponential.inl"
// clang-format on

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Exponentials take about as long as memory does to bring the costs, if several rows come at the same time and each
/// this far ahead: the loads that wait for them would keep the processor from the next exponentials otherwise.
constexpr Index fetched_ahead_bytes = 1024;

/// A few rows. What is left over of whole vectors fills one that is padded by exponentials of -infinity.
template <std::size_t rows, class T, class A>
HWY_INLINE void exponentials_of_rows(const T* cost, Index leading_dimension, Index columns, A factor, const A* f,
                                     const A* g, A* e, Index e_leading_dimension, A* sums) {
  const hn::ScalableTag<A> d;
  using V = hn::VFromD<decltype(d)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  // Everything in units of ln 2, so that exponentials are powers of 2.
  constexpr auto log2_e = static_cast<A>(0x1.71547652b82fep+0);
  const V unit = hn::Set(d, log2_e);
  const V by = hn::Set(d, factor * log2_e);
  V of_row[rows];
  V sum[rows];
  for (std::size_t i = 0; i < rows; ++i) {
    of_row[i] = hn::Set(d, f[i] * log2_e);
    sum[i] = hn::Zero(d);
  }
  const auto exponentials = [&](std::size_t i, const T* from, V by_column, A* to) HWY_ATTR {
    const V power = power_of_2(d, hn::Add(hn::MulAdd(load_as(d, from), by, by_column), of_row[i]));
    hn::StoreU(power, d, to);
    sum[i] = hn::Add(sum[i], power);
  };
  Index j = 0;
  for (; j + lanes <= columns; j += lanes) {
    const V by_column = hn::Mul(hn::LoadU(d, g + j), unit);
    for (std::size_t i = 0; i < rows; ++i) {
      const T* from = cost + static_cast<Index>(i) * leading_dimension + j;
      prefetch(from + fetched_ahead_bytes / Index{sizeof(T)});
      exponentials(i, from, by_column, e + static_cast<Index>(i) * e_leading_dimension + j);
    }
  }
  if (j < columns) {
    const Index rest = columns - j;
    A potentials[lanes];
    std::fill_n(potentials, lanes, -std::numeric_limits<A>::infinity());
    std::copy_n(g + j, rest, potentials);
    for (std::size_t i = 0; i < rows; ++i) {
      T costs[lanes] = {};
      A powers[lanes];
      std::copy_n(cost + static_cast<Index>(i) * leading_dimension + j, rest, costs);
      exponentials(i, costs, hn::Mul(hn::LoadU(d, potentials), unit), powers);
      std::copy_n(powers, rest, e + static_cast<Index>(i) * e_leading_dimension + j);
    }
  }
  for (std::size_t i = 0; i < rows; ++i) sums[i] = hn::GetLane(hn::SumOfLanes(d, sum[i]));
}

template <class T, class A>
HWY_INLINE A maximum_of_row(const T* cost, Index columns, A factor, const A* g) {
  const hn::ScalableTag<A> d;
  using V = hn::VFromD<decltype(d)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  constexpr A lowest = -std::numeric_limits<A>::infinity();
  const V by = hn::Set(d, factor);
  V maxima = hn::Set(d, lowest);
  Index j = 0;
  for (; j + lanes <= columns; j += lanes) {
    maxima = hn::Max(maxima, hn::MulAdd(load_as(d, cost + j), by, hn::LoadU(d, g + j)));
  }
  A maximum = columns < lanes ? lowest : hn::GetLane(hn::MaxOfLanes(d, maxima));
  for (; j < columns; ++j) maximum = std::max(maximum, g[j] + factor * widened<A>(cost[j]));
  return maximum;
}

}  // namespace

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void exponential_sums_of_target(RowBlock<const T> cost, A factor, const A* f, const A* g, RowBlock<A> e, A* sums) {
  Index i = 0;
  const auto take = [&]<std::size_t rows>(std::integral_constant<std::size_t, rows>) HWY_ATTR {
    for (; i + Index{rows} <= cost.rows; i += Index{rows}) {
      exponentials_of_rows<rows>(cost.data + i * cost.leading_dimension, cost.leading_dimension, cost.columns, factor,
                                 f + i, g, e.data + i * e.leading_dimension, e.leading_dimension, sums + i);
    }
  };
  take(std::integral_constant<std::size_t, 8>());
  take(std::integral_constant<std::size_t, 4>());
  take(std::integral_constant<std::size_t, 1>());
}

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void row_maxima_of_target(RowBlock<const T> cost, A factor, const A* g, A* maxima) {
  for (Index i = 0; i < cost.rows; ++i) {
    maxima[i] = maximum_of_row(cost.data + i * cost.leading_dimension, cost.columns, factor, g);
  }
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

template <class Pair>
using ExponentialSums = void(RowBlock<const typename Pair::Element>, typename Pair::Number,
                             const typename Pair::Number*, const typename Pair::Number*,
                             RowBlock<typename Pair::Number>, typename Pair::Number*);
template <class Pair>
using RowMaxima = void(RowBlock<const typename Pair::Element>, typename Pair::Number, const typename Pair::Number*,
                       typename Pair::Number*);

template <class Pair>
constexpr auto exponential_sums_scalar = &exponential_sums_reference<typename Pair::Element, typename Pair::Number>;
template <class Pair>
constexpr auto row_maxima_scalar = &row_maxima_reference<typename Pair::Element, typename Pair::Number>;

template <class Pair>
constexpr KernelTable<ExponentialSums<Pair>> exponential_sums_kernels(
    PLAIT_SIMD_FIXED_LENGTH_KERNELS(exponential_sums_scalar<Pair>, exponential_sums_of_target<Pair>));
template <class Pair>
constexpr KernelTable<RowMaxima<Pair>> row_maxima_kernels(PLAIT_SIMD_FIXED_LENGTH_KERNELS(row_maxima_scalar<Pair>,
                                                                                          row_maxima_of_target<Pair>));

}  // namespace

template <class T, class A>
  requires ComputedAs<T, A>
ExponentialKernels<T, A> exponential_kernels(Isa isa) {
  using Pair = ElementAndNumber<T, A>;
  return {&exponential_sums_kernels<Pair>[isa], &row_maxima_kernels<Pair>[isa]};
}

template decltype(exponential_kernels<double, double>) exponential_kernels<double, double>;
template decltype(exponential_kernels<float, float>) exponential_kernels<float, float>;
template decltype(exponential_kernels<float, double>) exponential_kernels<float, double>;

}  // namespace plait::simd
#endif
