#include "plait/simd/sweep/exponential_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "plait/simd/prefetch.hpp"
#include "plait/simd/sweep/kernel_table.hpp"
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
HWY_INLINE void exponentials_of_rows(const RowBlock<const T>& cost, A factor, const A* f, const A* g,
                                     const RowBlock<A>& e, A* sums) {
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
  const auto cost_at = [&](std::size_t i, Index j) {
    return cost.data + static_cast<Index>(i) * cost.leading_dimension + j;
  };
  const auto e_at = [&](std::size_t i, Index j) { return e.data + static_cast<Index>(i) * e.leading_dimension + j; };
  const Index columns = cost.columns;
  /// from(i) and to(i) are where row i has its numbers.
  const auto exponentials = [&](const A* of_g, const auto& from, const auto& to) HWY_ATTR {
    const V column = hn::Mul(hn::LoadU(d, of_g), unit);
    V power[rows];
    for (std::size_t i = 0; i < rows; ++i) {
      power[i] = hn::Add(hn::MulAdd(load_as(d, from(i)), by, column), of_row[i]);
    }
    take_powers_of_2<rows>(d, power);
    for (std::size_t i = 0; i < rows; ++i) {
      hn::StoreU(power[i], d, to(i));
      sum[i] = hn::Add(sum[i], power[i]);
    }
  };
  Index j = 0;
  for (; j + lanes <= columns; j += lanes) {
    for (std::size_t i = 0; i < rows; ++i) prefetch(cost_at(i, j) + fetched_ahead_bytes / Index{sizeof(T)});
    exponentials(g + j, [&](std::size_t i) { return cost_at(i, j); }, [&](std::size_t i) { return e_at(i, j); });
  }
  if (j < columns) {
    const Index rest = columns - j;
    A of_g[lanes];
    std::fill_n(of_g, lanes, -std::numeric_limits<A>::infinity());
    std::copy_n(g + j, rest, of_g);
    T costs[rows][lanes] = {};
    A powers[rows][lanes];
    for (std::size_t i = 0; i < rows; ++i) std::copy_n(cost_at(i, j), rest, costs[i]);
    exponentials(of_g, [&](std::size_t i) { return costs[i]; }, [&](std::size_t i) { return powers[i]; });
    for (std::size_t i = 0; i < rows; ++i) std::copy_n(powers[i], rest, e_at(i, j));
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
  for_rows<8, 4, 1>(cost.rows, [&](auto rows, Index i) HWY_ATTR {
    constexpr Index count = rows;
    exponentials_of_rows<rows>(rows_of(cost, i, count), factor, f + i, g, rows_of(e, i, count), sums + i);
  });
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

PLAIT_SIMD_TABLE_OF(exponential_sums);
PLAIT_SIMD_TABLE_OF(row_maxima);

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
