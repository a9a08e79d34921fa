#include "plait/simd/sweep/point_exponentials.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <hwy/cache_control.h>

#include "plait/simd/sweep/kernel_table.hpp"
#include "plait/simd/sweep/scaling_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/sweep/point_exponentials.cpp"
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

/// Blocks that outgrow the second-level cache come from beyond it, in a dozen streams, each of which the processor has
/// to discover again in every page: they are fetched this far ahead. Many coordinates are a stream that it follows.
constexpr Index fetched_ahead_bytes = 1024;
constexpr Index most_fetched_coordinates = 4;

/// What the exponents of rows have of their own, added to each.
template <std::size_t rows, class A>
struct AddedTerms {
  const A* terms;

  template <class D, class V>
  HWY_INLINE V column(D /*d*/, V of_column) const {
    return of_column;
  }
  template <class D, class V>
  HWY_INLINE V exponent(D d, V column, std::size_t i) const {
    return hn::Add(column, hn::Set(d, terms[i]));
  }
  template <std::size_t vectors, class D, class V>
  HWY_INLINE void take_powers(D d, V* y) const {
    take_powers_of_2<rows * vectors>(d, y);
  }
};

#if HWY_TARGET == HWY_AVX3
/// The same by a table of roots for each row, which saves that addition. Terms have to be near to one another, as
/// powers of what they are apart are in the tables.
template <std::size_t rows, class A>
class TermsInRoots {
 public:
  explicit TermsInRoots(const A* terms) {
    A lowest = std::numeric_limits<A>::max();
    A highest = std::numeric_limits<A>::lowest();
    for (std::size_t i = 0; i < rows; ++i) {
      if (terms[i] == -std::numeric_limits<A>::infinity()) continue;  // of a row of zeros
      lowest = std::min(lowest, terms[i]);
      highest = std::max(highest, terms[i]);
    }
    if (lowest > highest) lowest = highest = 0;
    constexpr A most = std::is_same_v<A, double> ? 2000 : 200;
    are_near_ = highest - lowest <= most;
    middle_ = lowest + (highest - lowest) / 2;
    const hn::ScalableTag<double> d;
    alignas(64) std::array<double, 8> logs{}, units{};
    for (std::size_t i = 0; i < rows; ++i) logs[i] = static_cast<double>(terms[i]) - static_cast<double>(middle_);
    hn::Store(power_of_2(d, hn::Load(d, logs.data())), d, units.data());
    for (std::size_t i = 0; i < rows; ++i) roots_[i] = Roots<A>(units[i], logs[i]);
  }

  [[nodiscard]] bool are_near() const { return are_near_; }

  template <class D, class V>
  HWY_INLINE V column(D d, V of_column) const {
    return hn::Add(of_column, hn::Set(d, middle_));
  }
  template <class D, class V>
  HWY_INLINE V exponent(D /*d*/, V column, std::size_t /*row*/) const {
    return column;
  }
  template <std::size_t vectors, class D, class V>
  HWY_INLINE void take_powers(D d, V* y) const {
    take_powers_of_2<rows * vectors>(d, y, [this](std::size_t n) HWY_ATTR -> auto& { return roots_[n % rows]; });
  }

 private:
  std::array<Roots<A>, rows> roots_;
  A middle_;
  bool are_near_;
};
#endif

/// A few rows, and so many vectors of columns at a time: none of their powers waits for another one.
template <std::size_t rows, std::size_t vectors, bool has_before, class A, class Terms>
HWY_INLINE void exponentials_of_points(const PointTerms<A>& of, const Terms& terms, RowBlock<A> e, SumsBefore<A> before,
                                       A* sums) {
  const A* const x = of.x;
  const A* const y = of.y;
  const A* const h = of.h;
  const Index coordinates = of.coordinates;
  const hn::CappedTag<A, panel_points> d;
  using V = hn::VFromD<decltype(d)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  V sum[rows];
  for (std::size_t i = 0; i < rows; ++i) sum[i] = hn::Zero(d);
  const auto at = [&](std::size_t i, Index j) { return e.data + static_cast<Index>(i) * e.leading_dimension + j; };
  const auto fetch = [](const A* numbers) { hwy::Prefetch(numbers + fetched_ahead_bytes / Index{sizeof(A)}); };
  /// Of some vectors of columns from the j-th on.
  const auto find_exponents = [&](auto number, Index j, const A* of_h, V* power) HWY_ATTR {
    constexpr std::size_t count = number();
    const A* others[count];
    for (std::size_t n = 0; n < count; ++n) {
      const Index from = j + static_cast<Index>(n) * lanes;
      others[n] = y + from / panel_points * panel_points * coordinates + from % panel_points;
      const V column = terms.column(d, hn::LoadU(d, of_h + from - j));
      for (std::size_t i = 0; i < rows; ++i) power[n * rows + i] = terms.exponent(d, column, i);
    }
    for (Index k = 0; k < coordinates; ++k) {
      V other[count];
      for (std::size_t n = 0; n < count; ++n) {
        if (coordinates <= most_fetched_coordinates) fetch(others[n] + k * panel_points);
        other[n] = hn::LoadU(d, others[n] + k * panel_points);
      }
      for (std::size_t i = 0; i < rows; ++i) {
        const V own = hn::Set(d, x[k * group_points + static_cast<Index>(i)]);
        for (std::size_t n = 0; n < count; ++n) power[n * rows + i] = hn::MulAdd(other[n], own, power[n * rows + i]);
      }
    }
  };
  const auto add_before = [&](Index j) HWY_ATTR {
    fetch(before.c + j);
    V column = hn::LoadU(d, before.c + j);
    for (std::size_t i = 0; i < rows; ++i) {
      column = hn::MulAdd(hn::Set(d, before.u[i]), hn::LoadU(d, at(i, j)), column);
    }
    hn::StoreU(column, d, before.c + j);
  };
  const auto whole_vectors = [&](auto number, Index j) HWY_ATTR {
    constexpr std::size_t count = number();
    V power[rows * count];
    // Loads of columns that came after the store of a sum would wait for it wherever both lie at the same place of a
    // page, as large vectors do.
    for (std::size_t n = 0; n < count; ++n) {
      const Index from = j + static_cast<Index>(n) * lanes;
      for (std::size_t i = 0; i < rows; ++i) fetch(at(i, from));
      fetch(h + from);
    }
    find_exponents(number, j, h + j, power);
    for (std::size_t n = 0; n < count && has_before; ++n) add_before(j + static_cast<Index>(n) * lanes);
    terms.template take_powers<count>(d, power);
    for (std::size_t n = 0; n < rows * count; ++n) {
      hn::StoreU(power[n], d, at(n % rows, j + static_cast<Index>(n / rows) * lanes));
      sum[n % rows] = hn::Add(sum[n % rows], power[n]);
    }
  };
  Index j = 0;
  constexpr std::integral_constant<std::size_t, 1> one;
  constexpr Index step = Index{vectors} * lanes;
  for (; j + step <= e.columns; j += step) whole_vectors(std::integral_constant<std::size_t, vectors>(), j);
  for (; j + lanes <= e.columns; j += lanes) whole_vectors(one, j);
  if (j < e.columns) {
    const Index rest = e.columns - j;
    A of_h[lanes];
    A powers[rows][lanes];
    V power[rows];
    std::fill_n(of_h, lanes, -std::numeric_limits<A>::infinity());
    std::copy_n(h + j, rest, of_h);
    find_exponents(one, j, of_h, power);
    terms.template take_powers<1>(d, power);
    for (std::size_t i = 0; i < rows; ++i) {
      hn::StoreU(power[i], d, powers[i]);
      sum[i] = hn::Add(sum[i], power[i]);
      for (Index n = 0; n < rest && has_before; ++n) before.c[j + n] += before.u[i] * at(i, j)[n];
      std::copy_n(powers[i], rest, at(i, j));
    }
  }
  for (std::size_t i = 0; i < rows; ++i) sums[i] = hn::GetLane(hn::SumOfLanes(d, sum[i]));
}

/// Calls f(terms) with what `rows` terms are best taken as.
template <std::size_t rows, class A, class F>
HWY_INLINE void with_terms(const A* terms, const F& f) {
#if HWY_TARGET == HWY_AVX3
  if (const TermsInRoots<rows, A> in_roots(terms); in_roots.are_near()) return f(in_roots);
#endif
  f(AddedTerms<rows, A>{terms});
}

}  // namespace

template <class A>
void point_exponentials_of_target(const PointTerms<A>& of, RowBlock<A> e, SumsBefore<A> before, A* sums) {
  for_rows<rows_of_points, 1>(e.rows, [&](auto number, Index i) HWY_ATTR {
    constexpr std::size_t rows = number;
    constexpr std::size_t vectors = group_points / rows_of_points;
    const PointTerms<A> some{of.x + i, of.a + i, of.coordinates, of.y, of.h};
    const RowBlock<A> block = rows_of(e, i, Index{rows});
    with_terms<rows>(some.a, [&](const auto& terms) HWY_ATTR {
      if (before.u == nullptr) {
        exponentials_of_points<rows, vectors, false>(some, terms, block, before, sums + i);
      } else {
        exponentials_of_points<rows, vectors, true>(some, terms, block, {before.u + i, before.c}, sums + i);
      }
    });
  });
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

PLAIT_SIMD_TABLE_OF(point_exponentials);

}  // namespace

template <class A>
PointExponentials<A>* point_exponentials(Isa isa) {
  return &point_exponentials_kernels<A>[isa];
}

template PointExponentials<double>* point_exponentials<double>(Isa);
template PointExponentials<float>* point_exponentials<float>(Isa);

}  // namespace plait::simd
#endif
