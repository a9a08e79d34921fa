#include "plait/simd/sweep/distance_kernels.hpp"

#include <algorithm>
#include <cstddef>

#include "plait/simd/sweep/distance_reference.hpp"
#include "plait/simd/sweep/kernel_table.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/sweep/distance_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/sweep/element_vectors.inl"
#include "plait/simd/sweep/exponential.inl"
#include "plait/simd/sweep/logarithm.inl"
// clang-format on

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct Squared {
  template <class V>
  HWY_INLINE V add(V x, V y, V sum) const {
    const V t = hn::Sub(x, y);
    return hn::MulAdd(t, t, sum);
  }
  template <class V>
  HWY_INLINE V finished(V sum) const {
    return sum;
  }
};
struct Euclidean : Squared {
  template <class V>
  HWY_INLINE V finished(V sum) const {
    return hn::Sqrt(sum);
  }
};
struct Cityblock : Squared {
  template <class V>
  HWY_INLINE V add(V x, V y, V sum) const {
    return hn::Add(hn::Abs(hn::Sub(x, y)), sum);
  }
};
struct Chebyshev : Squared {
  template <class V>
  HWY_INLINE V add(V x, V y, V most) const {
    return hn::Max(hn::Abs(hn::Sub(x, y)), most);
  }
};
struct Inner : Squared {
  template <class V>
  HWY_INLINE V add(V x, V y, V sum) const {
    return hn::MulAdd(x, y, sum);
  }
};

/// Some points at a time: each vector of other points' coordinates is read once for all of them, and none of their sums
/// waits for another one.
template <std::size_t rows, class A, class Metric>
HWY_INLINE void distances_of_rows(const RowBlock<const A>& x, const A* y, Index panels, const RowBlock<A>& d,
                                  Metric metric) {
  const hn::CappedTag<A, panel_points> tag;
  using V = hn::VFromD<decltype(tag)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(tag));
  for (Index j = 0; j < panels * panel_points; j += lanes) {
    const A* others = y + j / panel_points * panel_points * x.columns + j % panel_points;
    V sums[rows];
    for (std::size_t i = 0; i < rows; ++i) sums[i] = hn::Zero(tag);
    for (Index k = 0; k < x.columns; ++k) {
      const V other = hn::LoadU(tag, others + k * panel_points);
      for (std::size_t i = 0; i < rows; ++i) {
        const A own = x.data[static_cast<Index>(i) * x.leading_dimension + k];
        sums[i] = metric.add(hn::Set(tag, own), other, sums[i]);
      }
    }
    for (std::size_t i = 0; i < rows; ++i) {
      hn::StoreU(metric.finished(sums[i]), tag, d.data + static_cast<Index>(i) * d.leading_dimension + j);
    }
  }
}

template <class A, class Metric>
HWY_INLINE void distances(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d, Metric metric) {
  for_rows<8, 4, 1>(x.rows, [&](auto rows, Index i) HWY_ATTR {
    constexpr Index count = rows;
    distances_of_rows<rows>(rows_of(x, i, count), y, panels, rows_of(d, i, count), metric);
  });
}

}  // namespace

template <class A>
void squared_distances_of_target(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances(x, y, panels, d, Squared());
}
template <class A>
void euclidean_distances_of_target(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances(x, y, panels, d, Euclidean());
}
template <class A>
void cityblock_distances_of_target(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances(x, y, panels, d, Cityblock());
}

template <class A>
void chebyshev_distances_of_target(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances(x, y, panels, d, Chebyshev());
}
template <class A>
void inner_products_of_target(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances(x, y, panels, d, Inner());
}

template <class A>
void minkowski_distances_of_target(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d, A p) {
  const hn::CappedTag<A, panel_points> tag;
  using V = hn::VFromD<decltype(tag)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(tag));
  const Power<decltype(tag)> power(p);
  const Power<decltype(tag)> root(1 / p);
  distances(x, y, panels, d, Chebyshev());
  for (Index i = 0; i < x.rows; ++i) {
    const A* point = x.data + i * x.leading_dimension;
    for (Index j = 0; j < panels * panel_points; j += lanes) {
      const A* others = y + j / panel_points * panel_points * x.columns + j % panel_points;
      A* const to = d.data + i * d.leading_dimension + j;
      const V most = hn::LoadU(tag, to);
      const V unit = hn::IfThenElse(hn::Gt(most, hn::Zero(tag)), most, hn::Set(tag, A{1}));
      V sum = hn::Zero(tag);
      for (Index k = 0; k < x.columns; ++k) {
        const V t = hn::Sub(hn::Set(tag, point[k]), hn::LoadU(tag, others + k * panel_points));
        sum = hn::Add(sum, power.of(tag, hn::Div(hn::Abs(t), unit)));
      }
      hn::StoreU(hn::Mul(most, root.of(tag, sum)), tag, to);
    }
  }
}

template <class A>
void raise_of_target(A* d, Index count, A power) {
  const hn::CappedTag<A, panel_points> tag;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(tag));
  const Power<decltype(tag)> raised(power);
  Index i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(raised.of(tag, hn::LoadU(tag, d + i)), tag, d + i);
  if (i == count) return;
  A rest[lanes] = {};
  std::copy(d + i, d + count, rest);
  hn::StoreU(raised.of(tag, hn::LoadU(tag, rest)), tag, rest);
  std::copy_n(rest, count - i, d + i);
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

PLAIT_SIMD_TABLE_OF(squared_distances);
PLAIT_SIMD_TABLE_OF(euclidean_distances);
PLAIT_SIMD_TABLE_OF(cityblock_distances);
PLAIT_SIMD_TABLE_OF(chebyshev_distances);
PLAIT_SIMD_TABLE_OF(inner_products);
PLAIT_SIMD_TABLE_OF(minkowski_distances);
PLAIT_SIMD_TABLE_OF(raise);

}  // namespace

template <class A>
DistanceKernels<A> distance_kernels(Isa isa) {
  return {&squared_distances_kernels<A>[isa],
          &euclidean_distances_kernels<A>[isa],
          &cityblock_distances_kernels<A>[isa],
          &chebyshev_distances_kernels<A>[isa],
          &inner_products_kernels<A>[isa],
          &minkowski_distances_kernels<A>[isa],
          &raise_kernels<A>[isa]};
}

template DistanceKernels<double> distance_kernels<double>(Isa);
template DistanceKernels<float> distance_kernels<float>(Isa);

}  // namespace plait::simd
#endif
