#include "plait/simd/sweep/point_exponentials.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/sweep/scaling_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/sweep/point_exponentials.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/sweep/exponential.inl"
// clang-format on

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <std::size_t rows, bool has_before, class A>
HWY_INLINE void exponentials_of_points(const A* x, const A* a, Index coordinates, const A* y, const A* q, const A* g,
                                       RowBlock<A> e, SumsBefore<A> before, A* sums) {
  const hn::CappedTag<A, panel_points> d;
  using V = hn::VFromD<decltype(d)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  const V unit = hn::Set(d, static_cast<A>(0x1.71547652b82fep+0));
  V sum[rows];
  for (std::size_t i = 0; i < rows; ++i) sum[i] = hn::Zero(d);
  const auto at = [&](std::size_t i, Index j) { return e.data + static_cast<Index>(i) * e.leading_dimension + j; };
  /// The exponents of column j and those behind it.
  const auto exponents = [&](Index j, const A* of_g, const A* of_q, V* exponent) HWY_ATTR {
    const A* others = y + j / panel_points * panel_points * coordinates + j % panel_points;
    const V column = hn::MulSub(hn::LoadU(d, of_g), unit, hn::LoadU(d, of_q));
    for (std::size_t i = 0; i < rows; ++i) exponent[i] = hn::Add(column, hn::Set(d, a[i]));
    for (Index k = 0; k < coordinates; ++k) {
      const V other = hn::LoadU(d, others + k * panel_points);
      for (std::size_t i = 0; i < rows; ++i) {
        exponent[i] = hn::MulAdd(other, hn::Set(d, x[k * group_points + static_cast<Index>(i)]), exponent[i]);
      }
    }
  };
  Index j = 0;
  for (; j + lanes <= e.columns; j += lanes) {
    if constexpr (has_before) {
      V column = hn::LoadU(d, before.c + j);
      for (std::size_t i = 0; i < rows; ++i) {
        column = hn::MulAdd(hn::Set(d, before.u[i]), hn::LoadU(d, at(i, j)), column);
      }
      hn::StoreU(column, d, before.c + j);
    }
    V exponent[rows];
    exponents(j, g + j, q + j, exponent);
    for (std::size_t i = 0; i < rows; ++i) {
      const V power = power_of_2(d, exponent[i]);
      hn::StoreU(power, d, at(i, j));
      sum[i] = hn::Add(sum[i], power);
    }
  }
  if (j < e.columns) {
    const Index rest = e.columns - j;
    A of_g[lanes];
    A of_q[lanes] = {};
    std::fill_n(of_g, lanes, -std::numeric_limits<A>::infinity());
    std::copy_n(g + j, rest, of_g);
    std::copy_n(q + j, rest, of_q);
    V exponent[rows];
    exponents(j, of_g, of_q, exponent);
    for (std::size_t i = 0; i < rows; ++i) {
      A powers[lanes];
      const V power = power_of_2(d, exponent[i]);
      hn::StoreU(power, d, powers);
      sum[i] = hn::Add(sum[i], power);
      if constexpr (has_before) {
        for (Index n = 0; n < rest; ++n) before.c[j + n] += before.u[i] * at(i, j)[n];
      }
      std::copy_n(powers, rest, at(i, j));
    }
  }
  for (std::size_t i = 0; i < rows; ++i) sums[i] = hn::GetLane(hn::SumOfLanes(d, sum[i]));
}

}  // namespace

template <class A>
void point_exponentials_of_target(const A* x, const A* a, Index coordinates, const A* y, const A* q, const A* g,
                                  RowBlock<A> e, SumsBefore<A> before, A* sums) {
  Index i = 0;
  const auto take = [&]<std::size_t rows>(std::integral_constant<std::size_t, rows>) HWY_ATTR {
    for (; i + Index{rows} <= e.rows; i += Index{rows}) {
      const RowBlock<A> block{e.data + i * e.leading_dimension, Index{rows}, e.columns, e.leading_dimension};
      if (before.u == nullptr) {
        exponentials_of_points<rows, false>(x + i, a + i, coordinates, y, q, g, block, before, sums + i);
      } else {
        exponentials_of_points<rows, true>(x + i, a + i, coordinates, y, q, g, block, {before.u + i, before.c},
                                           sums + i);
      }
    }
  };
  take(std::integral_constant<std::size_t, 8>());
  take(std::integral_constant<std::size_t, 4>());
  take(std::integral_constant<std::size_t, 1>());
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

template <class A>
constexpr auto point_exponentials_scalar = &point_exponentials_reference<A>;
template <class A>
constexpr KernelTable<PointExponentials<A>> point_exponentials_kernels(
    PLAIT_SIMD_FIXED_LENGTH_KERNELS(point_exponentials_scalar<A>, point_exponentials_of_target<A>));

}  // namespace

template <class A>
PointExponentials<A>* point_exponentials(Isa isa) {
  return &point_exponentials_kernels<A>[isa];
}

template PointExponentials<double>* point_exponentials<double>(Isa);
template PointExponentials<float>* point_exponentials<float>(Isa);

}  // namespace plait::simd
#endif
