#include "plait/poisson/row_kernels.hpp"

#include <type_traits>
#include <utility>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/prefetch.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/poisson/row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace plait::poisson::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, most_lanes>;

// 1 / x, or 0 where x is not above 0. Newton's step makes all bits but the last of an approximation in floats.
template <class D, class V>
HWY_INLINE V inverse(D d, V x) {
  const auto is_good = hn::Gt(x, hn::Zero(d));
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    const V y = hn::ApproximateReciprocal(x);
    return hn::IfThenElseZero(is_good, hn::Mul(y, hn::NegMulAdd(x, y, hn::Set(d, 2.F))));
  } else {
    return hn::IfThenElseZero(is_good, hn::Div(hn::Set(d, 1.), x));
  }
}

enum class Mode { relax, begin, residual };

// Residuals are sums of differences, whose rounding is that of the differences, not of u.
template <std::size_t cross, bool varies, Mode mode, class T>
HWY_INLINE void stencil_row(const RowStencil<T>& row, Index count, T* HWY_RESTRICT out) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto load = [&d](const T* from) HWY_ATTR { return hn::LoadU(d, from); };
  for (Index x = 0; x < count; x += lanes) {
    if constexpr (mode != Mode::residual) {
      simd::prefetch(row.b + x + row.ahead);
      simd::prefetch(out + x + row.ahead);
      if constexpr (varies) {
        simd::prefetch(row.c_left + x + row.ahead);
        simd::prefetch(row.c_right + x + row.ahead);
        for (std::size_t a = 0; a < cross; ++a) simd::prefetch(row.c_above[a] + x + row.ahead);
      }
    }
    auto sum = load(row.b + x), diagonal = hn::Zero(d);
    const auto next = [&](const T* values) HWY_ATTR {
      const auto u = load(values + x);
      if constexpr (mode == Mode::residual) {
        return hn::Sub(u, load(row.u + x));
      } else {
        return u;
      }
    };
    // Of one axis; `width` counts where k varies.
    const auto add = [&](auto below, const T* u_below, auto above, const T* u_above, auto width) HWY_ATTR {
      if constexpr (varies) {
        diagonal = hn::MulAdd(width, hn::Add(below, above), diagonal);
        if constexpr (mode != Mode::begin) {
          sum = hn::MulAdd(width, hn::MulAdd(above, next(u_above), hn::Mul(below, next(u_below))), sum);
        }
      } else if constexpr (mode != Mode::begin) {
        sum = hn::MulAdd(above, next(u_above), hn::MulAdd(below, next(u_below), sum));
      }
    };
    if constexpr (varies) {
      add(load(row.c_left + x), row.left, load(row.c_right + x), row.right, load(row.inverse_width + x));
    } else if constexpr (mode != Mode::begin) {
      add(load(row.weight_left + x), row.left, load(row.weight_right + x), row.right, diagonal);
    }
    for (std::size_t a = 0; a < cross; ++a) {
      if constexpr (varies) {
        add(load(row.c_below[a] + x), row.below[a], load(row.c_above[a] + x), row.above[a],
            hn::Set(d, row.inverse_widths[a]));
      } else {
        add(hn::Set(d, row.weight_below[a]), row.below[a], hn::Set(d, row.weight_above[a]), row.above[a], diagonal);
      }
    }
    if constexpr (mode != Mode::residual) {
      if constexpr (varies) {
        sum = hn::Mul(sum, inverse(d, diagonal));
      } else {
        sum = hn::Mul(sum, load(row.inverse + x));
      }
    }
    hn::StoreU(sum, d, out + x);
  }
}

template <std::size_t cross, bool varies, Mode mode, class T>
void stencil(const RowStencil<T>& first, Index count, T* out) {
  RowStencil<T> row = first;
  for (Index r = 0; r < first.rows; ++r, row.advance(row.step)) {
    stencil_row<cross, varies, mode>(row, count, out + r * row.step);
  }
}

template <class D, class T>
HWY_INLINE hn::VFromD<D> weighted(D d, const WeightedRows<T>& rows, Index x) {
  auto value = hn::Zero(d);
  for (std::size_t r = 0; r < rows.count; ++r) {
    value = hn::MulAdd(hn::Set(d, rows.weights[r]), hn::LoadU(d, rows.rows[r] + x), value);
  }
  return value;
}

template <class T>
void sum(const WeightedRows<T>& rows, Index count, T* HWY_RESTRICT out) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index x = 0; x < count; x += lanes) hn::StoreU(weighted(d, rows, x), d, out + x);
}

template <class T>
void restrict_row(const WeightedRows<T>& even, const WeightedRows<T>& odd, const std::array<const T*, 3>& taps,
                  Index count, T* HWY_RESTRICT c_even, T* HWY_RESTRICT c_odd) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto values = [&](Index x) HWY_ATTR {
    auto value = hn::Mul(hn::LoadU(d, taps[0] + x), weighted(d, even, x));
    value = hn::MulAdd(hn::LoadU(d, taps[1] + x), weighted(d, odd, x), value);
    if (taps[2] != nullptr) value = hn::MulAdd(hn::LoadU(d, taps[2] + x), weighted(d, even, x + 1), value);
    return value;
  };
  HWY_ALIGN std::array<T, 2 * most_lanes> pair;
  hn::VFromD<Tag<T>> first, second;
  for (Index x = 0; x < count; x += 2 * lanes) {
    hn::Store(values(x), d, pair.data());
    hn::Store(values(x + lanes), d, pair.data() + lanes);
    hn::LoadInterleaved2(d, pair.data(), first, second);
    hn::StoreU(first, d, c_even + x / 2);
    hn::StoreU(second, d, c_odd + x / 2);
  }
}

template <class T>
void interpolate(const T* own, const T* other, const T* e, const T* next, Index count, T* u) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index x = 0; x < count; x += lanes) {
    auto value = hn::MulAdd(hn::LoadU(d, own + x), hn::LoadU(d, e + x), hn::LoadU(d, u + x));
    value = hn::MulAdd(hn::LoadU(d, other + x), hn::LoadU(d, next + x), value);
    hn::StoreU(value, d, u + x);
  }
}

template <class T>
void join(const T* even, const T* odd, Index count, T* row) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index x = 0; x < count; x += lanes) {
    hn::StoreInterleaved2(hn::LoadU(d, even + x), hn::LoadU(d, odd + x), d, row + 2 * x);
  }
}

template <class T>
void conductance(const T* k_below, const T* k, const std::array<const T*, 2>& shares, const std::array<T, 2>& factors,
                 Index count, T* c) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto zero = hn::Zero(d), one = hn::Set(d, T{1});
  for (Index x = 0; x < count; x += lanes) {
    const auto below = hn::Mul(hn::LoadU(d, shares[0] + x), hn::Set(d, factors[0]));
    const auto above = hn::Mul(hn::LoadU(d, shares[1] + x), hn::Set(d, factors[1]));
    const auto k0 = hn::LoadU(d, k_below + x), k1 = hn::LoadU(d, k + x);
    // One quotient for the two resistances; a share of 0 has no k.
    const auto has_below = hn::Gt(below, zero), has_above = hn::Gt(above, zero);
    const auto from = hn::IfThenElse(has_below, k0, one), to = hn::IfThenElse(has_above, k1, one);
    const auto resistance = hn::MulAdd(below, to, hn::Mul(above, from));
    hn::StoreU(hn::IfThenElseZero(hn::Gt(resistance, zero), hn::Div(hn::Mul(from, to), resistance)), d, c + x);
  }
}

template <class T>
void point_residual(const PointRow<T>& row, Index count, T* HWY_RESTRICT out) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index x = 0; x < count; x += lanes) {
    const auto u = hn::LoadU(d, row.u + x);
    auto value = hn::NegMulAdd(hn::LoadU(d, row.excess + x), u, hn::LoadU(d, row.b + x));
    for (std::size_t p = 0; p < row.count; ++p) {
      const auto difference = hn::Sub(hn::LoadU(d, row.next[p] + x), u);
      value = hn::NegMulAdd(hn::LoadU(d, row.c[p] + x), difference, value);
    }
    hn::StoreU(value, d, out + x);
  }
}

template <class D, class C>
HWY_INLINE hn::VFromD<D> load_as(D d, const C* from) {
  if constexpr (std::is_same_v<hn::TFromD<D>, C>) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<C, D>(), from));
  }
}

template <class D, class C>
HWY_INLINE void store_as(hn::VFromD<D> values, D d, C* to) {
  if constexpr (std::is_same_v<hn::TFromD<D>, C>) {
    hn::StoreU(values, d, to);
  } else {
    const hn::Rebind<C, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, values), narrow, to);
  }
}

template <class C>
void split(const double* row, double factor, Index count, C* HWY_RESTRICT even, C* HWY_RESTRICT odd) {
  const Tag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  hn::VFromD<Tag<double>> first, second;
  Index x = 0;
  for (; 2 * (x + lanes) <= count; x += lanes) {
    hn::LoadInterleaved2(d, row + 2 * x, first, second);
    store_as(hn::Mul(factors, first), d, even + x);
    store_as(hn::Mul(factors, second), d, odd + x);
  }
  for (Index i = 2 * x; i < count; ++i) (i % 2 == 0 ? even : odd)[i / 2] = static_cast<C>(factor * row[i]);
}

template <class C>
void add(const C* even, const C* odd, double factor, Index count, double* HWY_RESTRICT u) {
  const Tag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  hn::VFromD<Tag<double>> first, second;
  Index x = 0;
  for (; 2 * (x + lanes) <= count; x += lanes) {
    hn::LoadInterleaved2(d, u + 2 * x, first, second);
    first = hn::Add(first, hn::Mul(factors, load_as(d, even + x)));
    second = hn::Add(second, hn::Mul(factors, load_as(d, odd + x)));
    hn::StoreInterleaved2(first, second, d, u + 2 * x);
  }
  for (Index i = 2 * x; i < count; ++i) u[i] += factor * static_cast<double>((i % 2 == 0 ? even : odd)[i / 2]);
}

template <std::size_t cross, bool varies, class T>
constexpr StencilKernels<T> stencils{&stencil<cross, varies, Mode::relax, T>, &stencil<cross, varies, Mode::begin, T>,
                                     &stencil<cross, varies, Mode::residual, T>};

template <class T>
const RowKernels<T>& kernels() {
  static constexpr RowKernels<T> all{
      {{{stencils<1, false, T>, stencils<1, true, T>}, {stencils<2, false, T>, stencils<2, true, T>}}},
      &sum<T>,
      &restrict_row<T>,
      &interpolate<T>,
      &join<T>,
      &conductance<T>,
      &point_residual<T>,
      &split<T>,
      &add<T>};
  return all;
}

}  // namespace
}  // namespace plait::poisson::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace plait::poisson {

namespace {

// The entry of no instruction set is that of what every machine of this architecture has.
template <class T>
constexpr simd::KernelTable<const RowKernels<T>&()> table(PLAIT_SIMD_KERNELS(&HWY_STATIC_DISPATCH(kernels<T>),
                                                                             kernels<T>));

}  // namespace

template <class T>
const RowKernels<T>& row_kernels(simd::Isa isa) {
  return table<T>[isa]();
}

template const RowKernels<float>& row_kernels(simd::Isa);
template const RowKernels<double>& row_kernels(simd::Isa);

}  // namespace plait::poisson

#endif
