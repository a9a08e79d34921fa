#include "plait/simd/sweep/distance_kernels.hpp"

#include "plait/simd/dispatch.hpp"
#include "plait/simd/sweep/distance_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/sweep/distance_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
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
struct Cityblock {
  template <class V>
  HWY_INLINE V add(V t, V sum) const {
    return hn::Add(hn::Abs(t), sum);
  }
  template <class V>
  HWY_INLINE V finished(V sum) const {
    return sum;
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

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

template <class A>
using Distances = void(RowBlock<const A>, const A*, Index, RowBlock<A>);

template <class A>
constexpr auto squared_scalar = &squared_distances_reference<A>;
template <class A>
constexpr auto euclidean_scalar = &euclidean_distances_reference<A>;
template <class A>
constexpr auto cityblock_scalar = &cityblock_distances_reference<A>;

template <class A>
constexpr KernelTable<Distances<A>> squared_kernels(PLAIT_SIMD_FIXED_LENGTH_KERNELS(squared_scalar<A>,
                                                                                    squared_distances_of_target<A>));
template <class A>
constexpr KernelTable<Distances<A>> euclidean_kernels(
    PLAIT_SIMD_FIXED_LENGTH_KERNELS(euclidean_scalar<A>, euclidean_distances_of_target<A>));
template <class A>
constexpr KernelTable<Distances<A>> cityblock_kernels(
    PLAIT_SIMD_FIXED_LENGTH_KERNELS(cityblock_scalar<A>, cityblock_distances_of_target<A>));

}  // namespace

template <class A>
DistanceKernels<A> distance_kernels(Isa isa) {
  return {&squared_kernels<A>[isa], &euclidean_kernels<A>[isa], &cityblock_kernels<A>[isa]};
}

template DistanceKernels<double> distance_kernels<double>(Isa);
template DistanceKernels<float> distance_kernels<float>(Isa);

}  // namespace plait::simd
#endif
