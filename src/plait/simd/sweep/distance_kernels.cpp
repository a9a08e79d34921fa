#include "plait/simd/sweep/distance_kernels.hpp"

#include <algorithm>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/sweep/distance_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/sweep/distance_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
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
  HWY_INLINE V add(V t, V sum) const {
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
  HWY_INLINE V add(V t, V sum) const {
    return hn::Add(hn::Abs(t), sum);
  }
};
struct Chebyshev : Squared {
  template <class V>
  HWY_INLINE V add(V t, V most) const {
    return hn::Max(hn::Abs(t), most);
  }
};

/// Four points at a time, or one: each vector of other points' coordinates is read once for all of them.
template <int Rows, class A, class Metric>
HWY_INLINE void distances_of_rows(const A* x, Index leading_dimension, Index coordinates, const A* y, Index panels,
                                  A* d, Index d_leading_dimension, Metric metric) {
  const hn::CappedTag<A, panel_points> tag;
  using V = hn::VFromD<decltype(tag)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(tag));
  for (Index panel = 0; panel < panels; ++panel) {
    const A* others = y + panel * panel_points * coordinates;
    for (Index j = 0; j < panel_points; j += lanes) {
      V first = hn::Zero(tag);
      V second = hn::Zero(tag);
      V third = hn::Zero(tag);
      V fourth = hn::Zero(tag);
      for (Index k = 0; k < coordinates; ++k) {
        const V other = hn::LoadU(tag, others + k * panel_points + j);
        const auto difference = [&](Index row)
                                    HWY_ATTR { return hn::Sub(hn::Set(tag, x[row * leading_dimension + k]), other); };
        first = metric.add(difference(0), first);
        if constexpr (Rows == 4) {
          second = metric.add(difference(1), second);
          third = metric.add(difference(2), third);
          fourth = metric.add(difference(3), fourth);
        }
      }
      A* to = d + panel * panel_points + j;
      hn::StoreU(metric.finished(first), tag, to);
      if constexpr (Rows == 4) {
        hn::StoreU(metric.finished(second), tag, to + d_leading_dimension);
        hn::StoreU(metric.finished(third), tag, to + 2 * d_leading_dimension);
        hn::StoreU(metric.finished(fourth), tag, to + 3 * d_leading_dimension);
      }
    }
  }
}

template <class A, class Metric>
HWY_INLINE void distances(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d, Metric metric) {
  Index i = 0;
  for (; i + 4 <= x.rows; i += 4) {
    distances_of_rows<4>(x.data + i * x.leading_dimension, x.leading_dimension, x.columns, y, panels,
                         d.data + i * d.leading_dimension, d.leading_dimension, metric);
  }
  for (; i < x.rows; ++i) {
    distances_of_rows<1>(x.data + i * x.leading_dimension, x.leading_dimension, x.columns, y, panels,
                         d.data + i * d.leading_dimension, d.leading_dimension, metric);
  }
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

// A macro, as the namespaces of targets are no arguments of templates.
#define PLAIT_KERNELS_OF(name)                                         \
  template <class A>                                                   \
  constexpr auto name##_scalar = &name##_reference<A>;                 \
  template <class A>                                                   \
  constexpr KernelTable<decltype(name##_reference<A>)> name##_kernels( \
      PLAIT_SIMD_FIXED_LENGTH_KERNELS(name##_scalar<A>, name##_of_target<A>))
PLAIT_KERNELS_OF(squared_distances);
PLAIT_KERNELS_OF(euclidean_distances);
PLAIT_KERNELS_OF(cityblock_distances);
PLAIT_KERNELS_OF(chebyshev_distances);
PLAIT_KERNELS_OF(minkowski_distances);
PLAIT_KERNELS_OF(raise);
#undef PLAIT_KERNELS_OF

}  // namespace

template <class A>
DistanceKernels<A> distance_kernels(Isa isa) {
  return {&squared_distances_kernels<A>[isa],   &euclidean_distances_kernels<A>[isa],
          &cityblock_distances_kernels<A>[isa], &chebyshev_distances_kernels<A>[isa],
          &minkowski_distances_kernels<A>[isa], &raise_kernels<A>[isa]};
}

template DistanceKernels<double> distance_kernels<double>(Isa);
template DistanceKernels<float> distance_kernels<float>(Isa);

}  // namespace plait::simd
#endif
