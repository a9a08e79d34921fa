#include "plait/simd/exponential_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/scaling_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/exponential_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/element_vectors.inl"
#include "plait/simd/exponential.inl"
// clang-format on

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// One row. What is left over of whole vectors fills one that is padded by exponentials of -infinity.
template <class T, class A>
HWY_INLINE A exponentials_of_row(const T* cost, Index columns, A factor, A f, const A* g, A* e,
                                 const RowsAhead<T>& ahead) {
  const hn::ScalableTag<A> d;
  using V = hn::VFromD<decltype(d)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  const V by = hn::Set(d, factor);
  const V of_row = hn::Set(d, f);
  V even = hn::Zero(d);
  V odd = hn::Zero(d);
  const auto exponentials = [&](const T* from, const A* by_column, A* to) HWY_ATTR {
    const V exponent = hn::Add(hn::MulAdd(load_as(d, from), by, hn::LoadU(d, by_column)), of_row);
    const V power = exp_of(d, exponent);
    hn::StoreU(power, d, to);
    return power;
  };
  Index j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes) {
    fetch(ahead, j, 2 * lanes);
    even = hn::Add(even, exponentials(cost + j, g + j, e + j));
    odd = hn::Add(odd, exponentials(cost + j + lanes, g + j + lanes, e + j + lanes));
  }
  for (; j < columns; j += lanes) {
    const Index rest = std::min(lanes, columns - j);
    T costs[lanes] = {};
    A potentials[lanes];
    A powers[lanes];
    std::fill_n(potentials, lanes, -std::numeric_limits<A>::infinity());
    std::copy_n(cost + j, rest, costs);
    std::copy_n(g + j, rest, potentials);
    even = hn::Add(even, exponentials(costs, potentials, powers));
    std::copy_n(powers, rest, e + j);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
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
void exponential_sums_of_target(RowBlock<const T> cost, A factor, const A* f, const A* g, RowBlock<A> e, A* sums,
                                RowsAhead<T> ahead) {
  for (Index i = 0; i < cost.rows; ++i) {
    // Each row takes its share of the rows ahead.
    const Index first = ahead.rows * i / cost.rows;
    const RowsAhead<T> share{ahead.data + first * ahead.leading_dimension, ahead.rows * (i + 1) / cost.rows - first,
                             ahead.columns, ahead.leading_dimension};
    sums[i] = exponentials_of_row(cost.data + i * cost.leading_dimension, cost.columns, factor, f[i], g,
                                  e.data + i * e.leading_dimension, share);
  }
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
                             RowBlock<typename Pair::Number>, typename Pair::Number*,
                             RowsAhead<typename Pair::Element>);
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
