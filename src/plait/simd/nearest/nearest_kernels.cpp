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

/// A squared distance, coordinate by coordinate.
template <class D, class V = hn::VFromD<D>>
struct SquaredDistance {
  HWY_INLINE V first(D tag, Index /*centre*/) const { return hn::Zero(tag); }
  HWY_INLINE V with(V sum, V x, V y) const {
    const V t = hn::Sub(x, y);
    return hn::MulAdd(t, t, sum);
  }
};

/// half(j) - x · y
template <class D, class V = hn::VFromD<D>>
struct LessProduct {
  const float* half;
  HWY_INLINE V first(D tag, Index centre) const { return hn::Set(tag, half[centre]); }
  HWY_INLINE V with(V sum, V x, V y) const { return hn::NegMulAdd(x, y, sum); }
};

/// Two vectors of points and some centres at a time, so that enough sums are under way.
template <std::size_t Rows, bool with_second, class D, class Sum, class V = hn::VFromD<D>>
HWY_INLINE void centres_of(D tag, Sum sum, const hn::TFromD<D>* points, RowBlock<const hn::TFromD<D>> centres, Index j,
                           Best<V>& left, Best<V>& right) {
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(D()));
  const auto* centre = centres.data + j * centres.leading_dimension;
  std::array<V, Rows> l, r;
  for (std::size_t row = 0; row < Rows; ++row) l[row] = r[row] = sum.first(tag, j + static_cast<Index>(row));
  for (Index c = 0; c < centres.columns; ++c) {
    const V x = hn::LoadU(tag, points + c * nearest_points);
    const V y = hn::LoadU(tag, points + c * nearest_points + lanes);
    for (std::size_t row = 0; row < Rows; ++row) {
      const V coordinate = hn::Set(tag, centre[static_cast<Index>(row) * centres.leading_dimension + c]);
      l[row] = sum.with(l[row], x, coordinate);
      r[row] = sum.with(r[row], y, coordinate);
    }
  }
  for (std::size_t row = 0; row < Rows; ++row) {
    take<with_second>(tag, l[row], j + static_cast<Index>(row), left);
    take<with_second>(tag, r[row], j + static_cast<Index>(row), right);
  }
}

/// Calls f(where its points begin, what was found) for each vector of a panel.
template <bool with_second, class D, class Sum, class F>
HWY_INLINE void for_each_best(D tag, Sum sum, const hn::TFromD<D>* panel, RowBlock<const hn::TFromD<D>> centres,
                              const F& f) {
  using V = hn::VFromD<D>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(D()));
  for (Index p = 0; p < nearest_points; p += 2 * lanes) {
    const V none = hn::Inf(tag);
    Best<V> left{none, hn::Zero(tag), none};
    Best<V> right = left;
    Index j = 0;
    const auto* points = panel + p;
    for (; j + 4 <= centres.rows; j += 4) centres_of<4, with_second>(tag, sum, points, centres, j, left, right);
    for (; j + 2 <= centres.rows; j += 2) centres_of<2, with_second>(tag, sum, points, centres, j, left, right);
    for (; j < centres.rows; ++j) centres_of<1, with_second>(tag, sum, points, centres, j, left, right);
    f(p, left);
    f(p + lanes, right);
  }
}

template <bool with_second, class T>
HWY_INLINE void nearest_of_panel(const T* panel, RowBlock<const T> centres, T* least, T* place, T* second) {
  const hn::CappedTag<T, nearest_points / 2> tag;
  using D = decltype(tag);
  for_each_best<with_second>(tag, SquaredDistance<hn::CappedTag<T, nearest_points / 2>>(), panel, centres,
                             [&](Index p, const Best<hn::VFromD<D>>& best) HWY_ATTR {
                               hn::StoreU(best.least, tag, least + p);
                               hn::StoreU(best.place, tag, place + p);
                               if constexpr (with_second) hn::StoreU(best.second, tag, second + p);
                             });
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

/// Four points and four coordinates at a time.
template <class T>
void narrow_of_target(RowBlock<const T> x, const std::int32_t* rows, Index count, const T* origin, T scale,
                      float* panel) {
  const hn::CappedTag<T, 4> tag;
  const hn::CappedTag<float, 4> narrow;
  constexpr Index at_once = 4;
  constexpr Index ahead = 96;
  const Index blocks = hn::MaxLanes(tag) == at_once ? (x.columns + at_once - 1) / at_once : 0;
  for (Index p = 0; p < count; p += at_once) {
    std::array<const T*, at_once> from;
    for (Index q = 0; q < at_once; ++q) {
      const Index row = rows[std::min(p + q, count - 1)];
      from[at(q)] = x.data + row * x.leading_dimension;
      const T* next = x.data + std::min(row + ahead, x.rows - 1) * x.leading_dimension;
      __builtin_prefetch(next);
      if (x.columns * Index{sizeof(T)} > 64) __builtin_prefetch(next + x.columns - 1);
    }
    float* to = panel + p;
    if (blocks == 0 || x.columns < at_once) {
      for (Index c = 0; c < x.columns; ++c) {
        for (Index q = 0; q < at_once; ++q) {
          to[c * nearest_points + q] = static_cast<float>((from[at(q)][c] - origin[c]) * scale);
        }
      }
      continue;
    }
    if constexpr (hn::MaxLanes(tag) == at_once) {
      const auto unit = hn::Set(tag, scale);
      for (Index block = 0; block < blocks; ++block) {
        const Index c = std::min(block * at_once, x.columns - at_once);  // the last one goes over some once more
        const auto middle = hn::LoadU(tag, origin + c);
        const auto row = [&](std::size_t q) HWY_ATTR {
          const auto scaled = hn::Mul(hn::Sub(hn::LoadU(tag, from[q] + c), middle), unit);
          if constexpr (sizeof(T) == sizeof(float)) {
            return scaled;
          } else {
            return hn::DemoteTo(narrow, scaled);
          }
        };
        const auto first = row(0), second = row(1), third = row(2), fourth = row(3);
        const auto odd = hn::InterleaveLower(narrow, first, third), even = hn::InterleaveLower(narrow, second, fourth);
        hn::StoreU(hn::InterleaveLower(narrow, odd, even), narrow, to + c * nearest_points);
        hn::StoreU(hn::InterleaveUpper(narrow, odd, even), narrow, to + (c + 1) * nearest_points);
        const auto odder = hn::InterleaveUpper(narrow, first, third),
                   evener = hn::InterleaveUpper(narrow, second, fourth);
        hn::StoreU(hn::InterleaveLower(narrow, odder, evener), narrow, to + (c + 2) * nearest_points);
        hn::StoreU(hn::InterleaveUpper(narrow, odder, evener), narrow, to + (c + 3) * nearest_points);
      }
    }
  }
}

inline std::uint32_t nearest_bounds_of_target(const float* panel, const NarrowCentres& centres, float* upper,
                                              float* lower, std::int32_t* place) {
  using D = hn::CappedTag<float, nearest_points / 2>;
  using V = hn::VFromD<D>;
  const D tag;
  const hn::RebindToSigned<D> places;
  const V two = hn::Set(tag, 2), least = hn::Set(tag, NarrowCentres::least);
  const V more = hn::Set(tag, 1 + 2 * centres.error), less = hn::Set(tag, 1 - 2 * centres.error);
  std::uint32_t unsure = 0;
  for_each_best<true>(tag, LessProduct<D>{centres.half}, panel, centres.rows,
                      [&](Index p, const Best<V>& best) HWY_ATTR {
                        V square = hn::Zero(tag);
                        for (Index c = 0; c < centres.rows.columns; ++c) {
                          const V x = hn::LoadU(tag, panel + c * nearest_points + p);
                          square = hn::MulAdd(x, x, square);
                        }
                        const auto label = hn::ConvertTo(places, best.place);
                        const V slack = hn::Add(hn::GatherIndex(tag, centres.slack, label), least);
                        const V its = hn::Add(hn::MulAdd(square, more, slack), hn::Mul(two, best.least));
                        const V others = hn::Add(hn::MulSub(square, less, least), hn::Mul(two, best.second));
                        hn::StoreU(its, tag, upper + p);
                        hn::StoreU(others, tag, lower + p);
                        hn::StoreU(label, places, place + p);
                        std::array<std::uint8_t, 8> bytes{};
                        hn::StoreMaskBits(tag, hn::Not(hn::Lt(its, others)), bytes.data());
                        unsure |= static_cast<std::uint32_t>(bytes[0] + 256 * bytes[1]) << p;
                      });
  return unsure;
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
using Narrow = void(RowBlock<const T>, const std::int32_t*, Index, const T*, T, float*);
template <class T>
constexpr auto narrow_scalar = &narrow_reference<T>;
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
template <class T>
constexpr KernelTable<Narrow<T>> narrow_table(PLAIT_SIMD_FIXED_LENGTH_KERNELS(narrow_scalar<T>, narrow_of_target<T>));
constexpr KernelTable<NearestBoundsKernel> nearest_bounds_table(
    PLAIT_SIMD_FIXED_LENGTH_KERNELS(&nearest_bounds_reference, nearest_bounds_of_target));
constexpr KernelTable<DoubtfulKernel> doubtful_table(PLAIT_SIMD_FIXED_LENGTH_KERNELS(&doubtful_reference,
                                                                                     doubtful_of_target));

}  // namespace

template <class T>
NearestKernels<T> nearest_kernels(Isa isa) {
  return {&nearest_two_table<T>[isa], &nearest_table<T>[isa], &own_table<T>[isa], &narrow_table<T>[isa]};
}

template NearestKernels<double> nearest_kernels<double>(Isa);
template NearestKernels<float> nearest_kernels<float>(Isa);

NearestBoundsKernel* nearest_bounds_kernel(Isa isa) { return &nearest_bounds_table[isa]; }
DoubtfulKernel* doubtful_kernel(Isa isa) { return &doubtful_table[isa]; }

}  // namespace plait::simd
#endif
