#include "plait/simd/nearest/nearest_kernels.hpp"

#include <algorithm>
#include <array>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/nearest/nearest_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/nearest/nearest_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct Best {
  V least, place, second;
};

template <bool with_second, class D, class V = hn::VFromD<D>>
HWY_INLINE void take(D tag, V d, Index j, Best<V>& best) {
  const auto is_less = hn::Lt(d, best.least);
  if constexpr (with_second) best.second = hn::Min(best.second, hn::Max(best.least, d));
  best.least = hn::Min(best.least, d);
  best.place = hn::IfThenElse(is_less, hn::Set(tag, static_cast<hn::TFromD<D>>(j)), best.place);
}

/// Two vectors of points and up to four centres at a time, so that enough sums are under way.
template <int Rows, bool with_second, class D, class V = hn::VFromD<D>>
HWY_INLINE void centres_of(D tag, const hn::TFromD<D>* points, RowBlock<const hn::TFromD<D>> centres, Index j,
                           Best<V>& left, Best<V>& right) {
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(D()));
  const auto* centre = centres.data + j * centres.leading_dimension;
  const Index pitch = centres.leading_dimension;
  V l0 = hn::Zero(tag), l1 = l0, l2 = l0, l3 = l0, r0 = l0, r1 = l0, r2 = l0, r3 = l0;
  for (Index c = 0; c < centres.columns; ++c) {
    const V x = hn::LoadU(tag, points + c * nearest_points);
    const V y = hn::LoadU(tag, points + c * nearest_points + lanes);
    const auto add = [&](Index row, V& l, V& r) HWY_ATTR {
      const V coordinate = hn::Set(tag, centre[row * pitch + c]);
      const V s = hn::Sub(x, coordinate);
      const V t = hn::Sub(y, coordinate);
      l = hn::MulAdd(s, s, l);
      r = hn::MulAdd(t, t, r);
    };
    add(0, l0, r0);
    if constexpr (Rows > 1) add(1, l1, r1);
    if constexpr (Rows > 2) {
      add(2, l2, r2);
      add(3, l3, r3);
    }
  }
  const auto put = [&](Index row, V l, V r) HWY_ATTR {
    take<with_second>(tag, l, j + row, left);
    take<with_second>(tag, r, j + row, right);
  };
  put(0, l0, r0);
  if constexpr (Rows > 1) put(1, l1, r1);
  if constexpr (Rows > 2) {
    put(2, l2, r2);
    put(3, l3, r3);
  }
}

template <bool with_second, class T>
HWY_INLINE void nearest_of_panel(const T* panel, RowBlock<const T> centres, T* least, T* place, T* second) {
  const hn::CappedTag<T, nearest_points / 2> tag;
  using V = hn::VFromD<decltype(tag)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(tag));
  for (Index p = 0; p < nearest_points; p += 2 * lanes) {
    const V none = hn::Inf(tag);
    Best<V> left{none, hn::Zero(tag), none};
    Best<V> right = left;
    Index j = 0;
    for (; j + 4 <= centres.rows; j += 4) centres_of<4, with_second>(tag, panel + p, centres, j, left, right);
    for (; j + 2 <= centres.rows; j += 2) centres_of<2, with_second>(tag, panel + p, centres, j, left, right);
    for (; j < centres.rows; ++j) centres_of<1, with_second>(tag, panel + p, centres, j, left, right);
    hn::StoreU(left.least, tag, least + p);
    hn::StoreU(right.least, tag, least + p + lanes);
    hn::StoreU(left.place, tag, place + p);
    hn::StoreU(right.place, tag, place + p + lanes);
    if constexpr (with_second) {
      hn::StoreU(left.second, tag, second + p);
      hn::StoreU(right.second, tag, second + p + lanes);
    }
  }
}

}  // namespace

template <class T>
void nearest_two_of_target(const T* panel, RowBlock<const T> centres, T* least, T* place, T* second) {
  nearest_of_panel<true>(panel, centres, least, place, second);
}
template <class T>
void nearest_of_target(const T* panel, RowBlock<const T> centres, T* least, T* place) {
  nearest_of_panel<false, T>(panel, centres, least, place, nullptr);
}

/// Four points at a time, each in a lane of its own, with the operations of the kernels above.
template <class T>
void own_of_target(RowBlock<const T> x, const Index* rows, Index count, RowBlock<const T> centres,
                   const std::int32_t* of, T* d) {
  const hn::CappedTag<T, 1> tag;
  using V = hn::VFromD<decltype(tag)>;
  constexpr Index at_once = 4;
  for (Index i = 0; i < count; i += at_once) {
    std::array<const T*, at_once> point;
    std::array<const T*, at_once> centre;
    for (Index p = 0; p < at_once; ++p) {
      const Index q = std::min(i + p, count - 1);
      point[at(p)] = x.data + rows[q] * x.leading_dimension;
      centre[at(p)] = centres.data + of[q] * centres.leading_dimension;
    }
    V first = hn::Zero(tag), second = first, third = first, fourth = first;
    for (Index c = 0; c < x.columns; ++c) {
      const auto add = [&](std::size_t p, V& sum) HWY_ATTR {
        const V t = hn::Sub(hn::Set(tag, point[p][c]), hn::Set(tag, centre[p][c]));
        sum = hn::MulAdd(t, t, sum);
      };
      add(0, first);
      add(1, second);
      add(2, third);
      add(3, fourth);
    }
    const std::array<T, at_once> sums{hn::GetLane(first), hn::GetLane(second), hn::GetLane(third), hn::GetLane(fourth)};
    std::copy_n(sums.begin(), std::min(at_once, count - i), d + i);
  }
}

inline Index doubtful_of_target(const MovedBounds& bounds, Index count, std::int32_t* doubtful) {
  const hn::CappedTag<float, 16> tag;
  const hn::RebindToSigned<decltype(tag)> places;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(tag));
  const auto slack = hn::Set(tag, bounds.slack);
  const auto least = hn::Set(tag, bounds.least);
  const auto fall = hn::Set(tag, bounds.fall);
  Index found = 0;
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto moved = hn::GatherIndex(tag, bounds.moved, hn::LoadU(places, bounds.of + i));
    const auto upper = hn::Add(hn::LoadU(tag, bounds.upper + i), moved);
    const auto lower = hn::LoadU(tag, bounds.lower + i);
    const auto margin = hn::MulAdd(slack, hn::Add(upper, lower), least);
    const auto is_sure = hn::Lt(hn::Add(upper, margin), hn::Sub(lower, fall));
    const auto is_doubtful = hn::RebindMask(places, hn::Not(is_sure));
    if (hn::AllFalse(places, is_doubtful)) continue;
    const auto numbers = hn::Iota(places, static_cast<std::int32_t>(i));
    found += static_cast<Index>(hn::CompressStore(numbers, is_doubtful, places, doubtful + found));
  }
  const MovedBounds rest{bounds.upper + i, bounds.lower + i, bounds.of + i, bounds.moved,
                         bounds.fall,      bounds.slack,     bounds.least};
  const Index more = doubtful_reference(rest, count - i, doubtful + found);
  for (Index k = found; k < found + more; ++k) doubtful[k] += static_cast<std::int32_t>(i);
  return found + more;
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

template <class T>
using NearestTwo = void(const T*, RowBlock<const T>, T*, T*, T*);
template <class T>
using Nearest = void(const T*, RowBlock<const T>, T*, T*);
template <class T>
using Own = void(RowBlock<const T>, const Index*, Index, RowBlock<const T>, const std::int32_t*, T*);

template <class T>
constexpr auto nearest_two_scalar = &nearest_two_reference<T>;
template <class T>
constexpr auto nearest_scalar = &nearest_reference<T>;
template <class T>
constexpr auto own_scalar = &own_reference<T>;

template <class T>
constexpr KernelTable<NearestTwo<T>> nearest_two_table(PLAIT_SIMD_FIXED_LENGTH_KERNELS(nearest_two_scalar<T>,
                                                                                       nearest_two_of_target<T>));
template <class T>
constexpr KernelTable<Nearest<T>> nearest_table(PLAIT_SIMD_FIXED_LENGTH_KERNELS(nearest_scalar<T>,
                                                                                nearest_of_target<T>));
template <class T>
constexpr KernelTable<Own<T>> own_table(PLAIT_SIMD_FIXED_LENGTH_KERNELS(own_scalar<T>, own_of_target<T>));
constexpr KernelTable<DoubtfulKernel> doubtful_table(PLAIT_SIMD_FIXED_LENGTH_KERNELS(&doubtful_reference,
                                                                                     doubtful_of_target));

}  // namespace

template <class T>
NearestKernels<T> nearest_kernels(Isa isa) {
  return {&nearest_two_table<T>[isa], &nearest_table<T>[isa], &own_table<T>[isa]};
}

template NearestKernels<double> nearest_kernels<double>(Isa);
template NearestKernels<float> nearest_kernels<float>(Isa);

DoubtfulKernel* doubtful_kernel(Isa isa) { return &doubtful_table[isa]; }

}  // namespace plait::simd
#endif
