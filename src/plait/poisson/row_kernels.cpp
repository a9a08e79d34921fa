#include "plait/poisson/row_kernels.hpp"

#include <type_traits>

#include "plait/simd/dispatch.hpp"
#include "plait/simd/prefetch.hpp"

#ifndef PLAIT_POISSON_ROW_KERNELS_VARIANTS
#define PLAIT_POISSON_ROW_KERNELS_VARIANTS
namespace plait::poisson {
namespace {

enum class Mode { relax, begin, residual };

template <class T, std::size_t cross, bool varies, Mode what>
struct Variant {
  using Number = T;
  static constexpr std::size_t cross_axes = cross;
  static constexpr bool k_varies = varies;
  static constexpr Mode mode = what;
};

template <class T, class C>
struct Types {
  using Wide = T;
  using Narrow = C;
};

}  // namespace
}  // namespace plait::poisson
#endif

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

template <class V, class T>
HWY_INLINE void stencil_row(const RowStencil<T>& row, Index count, T* HWY_RESTRICT out) {
  constexpr std::size_t cross = V::cross_axes;
  constexpr bool varies = V::k_varies;
  constexpr Mode mode = V::mode;
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto load = [&d](const T* from) HWY_ATTR { return hn::LoadU(d, from); };
  // Residuals are sums of differences, whose rounding is that of the differences, not of u.
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
    auto sum = load(row.b + x);
    if constexpr (varies && mode == Mode::residual) {
      const auto u = load(row.u + x);
      auto flow = hn::Mul(load(row.c_left + x), hn::Sub(load(row.left + x), u));
      flow = hn::MulAdd(load(row.c_right + x), hn::Sub(load(row.right + x), u), flow);
      sum = hn::MulAdd(load(row.inverse_width + x), flow, sum);
      for (std::size_t a = 0; a < cross; ++a) {
        flow = hn::Mul(load(row.c_below[a] + x), hn::Sub(load(row.below[a] + x), u));
        flow = hn::MulAdd(load(row.c_above[a] + x), hn::Sub(load(row.above[a] + x), u), flow);
        sum = hn::MulAdd(hn::Set(d, row.inverse_widths[a]), flow, sum);
      }
    } else if constexpr (varies) {
      const auto width = load(row.inverse_width + x);
      const auto c_left = load(row.c_left + x), c_right = load(row.c_right + x);
      auto diagonal = hn::Mul(width, hn::Add(c_left, c_right));
      if constexpr (mode == Mode::relax) {
        const auto flow = hn::MulAdd(c_right, load(row.right + x), hn::Mul(c_left, load(row.left + x)));
        sum = hn::MulAdd(width, flow, sum);
      }
      for (std::size_t a = 0; a < cross; ++a) {
        const auto c_below = load(row.c_below[a] + x), c_above = load(row.c_above[a] + x);
        const auto across = hn::Set(d, row.inverse_widths[a]);
        diagonal = hn::MulAdd(across, hn::Add(c_below, c_above), diagonal);
        if constexpr (mode == Mode::relax) {
          const auto flow = hn::MulAdd(c_above, load(row.above[a] + x), hn::Mul(c_below, load(row.below[a] + x)));
          sum = hn::MulAdd(across, flow, sum);
        }
      }
      sum = hn::Mul(sum, inverse(d, diagonal));
    } else if constexpr (mode == Mode::residual) {
      const auto u = load(row.u + x);
      sum = hn::MulAdd(load(row.weight_left + x), hn::Sub(load(row.left + x), u), sum);
      sum = hn::MulAdd(load(row.weight_right + x), hn::Sub(load(row.right + x), u), sum);
      for (std::size_t a = 0; a < cross; ++a) {
        sum = hn::MulAdd(hn::Set(d, row.weight_below[a]), hn::Sub(load(row.below[a] + x), u), sum);
        sum = hn::MulAdd(hn::Set(d, row.weight_above[a]), hn::Sub(load(row.above[a] + x), u), sum);
      }
    } else {
      if constexpr (mode == Mode::relax) {
        sum = hn::MulAdd(load(row.weight_left + x), load(row.left + x), sum);
        sum = hn::MulAdd(load(row.weight_right + x), load(row.right + x), sum);
        for (std::size_t a = 0; a < cross; ++a) {
          sum = hn::MulAdd(hn::Set(d, row.weight_below[a]), load(row.below[a] + x), sum);
          sum = hn::MulAdd(hn::Set(d, row.weight_above[a]), load(row.above[a] + x), sum);
        }
      }
      sum = hn::Mul(sum, load(row.inverse + x));
    }
    hn::StoreU(sum, d, out + x);
  }
}

template <class V>
void stencil(const RowStencil<typename V::Number>& first, Index count, typename V::Number* out) {
  RowStencil<typename V::Number> row = first;
  for (Index r = 0; r < first.rows; ++r) {
    stencil_row<V>(row, count, out + r * row.step);
    for (auto* pointer : {&row.u, &row.b, &row.left, &row.right}) *pointer += row.step;
    for (auto* pair : {&row.below, &row.above}) {
      for (std::size_t a = 0; a < V::cross_axes; ++a) (*pair)[a] += row.step;
    }
    if constexpr (V::k_varies) {
      for (auto* pointer : {&row.c_left, &row.c_right}) *pointer += row.step;
      for (auto* pair : {&row.c_below, &row.c_above}) {
        for (std::size_t a = 0; a < V::cross_axes; ++a) (*pair)[a] += row.step;
      }
    }
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
                  Index count, T* HWY_RESTRICT out) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index x = 0; x < count; x += lanes) {
    auto value = hn::Mul(hn::LoadU(d, taps[0] + x), weighted(d, even, x));
    value = hn::MulAdd(hn::LoadU(d, taps[1] + x), weighted(d, odd, x), value);
    if (taps[2] != nullptr) value = hn::MulAdd(hn::LoadU(d, taps[2] + x), weighted(d, even, x + 1), value);
    hn::StoreU(value, d, out + x);
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
void split(const T* row, Index count, T* even, T* odd) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  hn::VFromD<Tag<T>> first, second;
  for (Index x = 0; x < count; x += lanes) {
    hn::LoadInterleaved2(d, row + 2 * x, first, second);
    hn::StoreU(first, d, even + x);
    hn::StoreU(second, d, odd + x);
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
    auto value = hn::LoadU(d, row.b + x);
    for (std::size_t p = 0; p < row.count; ++p) {
      value = hn::NegMulAdd(hn::LoadU(d, row.c[p] + x), hn::LoadU(d, row.u[p] + x), value);
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

template <class P, class T = typename P::Wide, class C = typename P::Narrow>
void add(const C* e, T factor, Index count, T* u) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  Index x = 0;
  for (; x + lanes <= count; x += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, u + x), hn::Mul(factors, load_as(d, e + x))), d, u + x);
  }
  for (; x < count; ++x) u[x] += factor * static_cast<T>(e[x]);
}

template <class P, class T = typename P::Wide, class C = typename P::Narrow>
void convert(const T* r, T factor, Index count, C* out) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  for (Index x = 0; x < count; x += lanes) {
    const auto value = hn::Mul(factors, hn::LoadU(d, r + x));
    if constexpr (std::is_same_v<T, C>) {
      hn::StoreU(value, d, out + x);
    } else {
      const hn::Rebind<C, Tag<T>> narrow;
      hn::StoreU(hn::DemoteTo(narrow, value), narrow, out + x);
    }
  }
}

}  // namespace
}  // namespace plait::poisson::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace plait::poisson {

namespace {

// The entry of no instruction set is that of what every machine of this architecture has.
#define PLAIT_POISSON_KERNELS(kernel) PLAIT_SIMD_KERNELS(&HWY_STATIC_DISPATCH(kernel), kernel)

template <class T>
using Weighted = const WeightedRows<T>&;
template <class T, std::size_t count>
using Values = const std::array<T, count>&;

template <class V>
constexpr simd::KernelTable<void(const RowStencil<typename V::Number>&, Index, typename V::Number*)> stencils(
    PLAIT_POISSON_KERNELS(stencil<V>));
template <class T>
constexpr simd::KernelTable<void(Weighted<T>, Index, T*)> sums(PLAIT_POISSON_KERNELS(sum<T>));
template <class T>
constexpr simd::KernelTable<void(Weighted<T>, Weighted<T>, Values<const T*, 3>, Index, T*)> restrictions(
    PLAIT_POISSON_KERNELS(restrict_row<T>));
template <class T>
constexpr simd::KernelTable<void(const T*, const T*, const T*, const T*, Index, T*)> interpolations(
    PLAIT_POISSON_KERNELS(interpolate<T>));
template <class T>
constexpr simd::KernelTable<void(const T*, Index, T*, T*)> splits(PLAIT_POISSON_KERNELS(split<T>));
template <class T>
constexpr simd::KernelTable<void(const T*, const T*, Index, T*)> joins(PLAIT_POISSON_KERNELS(join<T>));
template <class T>
constexpr simd::KernelTable<void(const T*, const T*, Values<const T*, 2>, Values<T, 2>, Index, T*)> conductances(
    PLAIT_POISSON_KERNELS(conductance<T>));
template <class T>
constexpr simd::KernelTable<void(const PointRow<T>&, Index, T*)> point_residuals(
    PLAIT_POISSON_KERNELS(point_residual<T>));

template <class P>
constexpr simd::KernelTable<void(const typename P::Narrow*, typename P::Wide, Index, typename P::Wide*)> additions(
    PLAIT_POISSON_KERNELS(add<P>));
template <class P>
constexpr simd::KernelTable<void(const typename P::Wide*, typename P::Wide, Index, typename P::Narrow*)> conversions(
    PLAIT_POISSON_KERNELS(convert<P>));

template <class T, std::size_t cross, bool varies>
StencilKernels<T> stencil_kernels_of(simd::Isa isa) {
  return {&stencils<Variant<T, cross, varies, Mode::relax>>[isa],
          &stencils<Variant<T, cross, varies, Mode::begin>>[isa],
          &stencils<Variant<T, cross, varies, Mode::residual>>[isa]};
}

}  // namespace

template <class T>
StencilKernels<T> stencil_kernels(int cross_axes, bool k_varies, simd::Isa isa) {
  if (k_varies) return cross_axes == 2 ? stencil_kernels_of<T, 2, true>(isa) : stencil_kernels_of<T, 1, true>(isa);
  return cross_axes == 2 ? stencil_kernels_of<T, 2, false>(isa) : stencil_kernels_of<T, 1, false>(isa);
}

template <class T>
TransferKernels<T> transfer_kernels(simd::Isa isa) {
  return {&sums<T>[isa],  &restrictions<T>[isa], &interpolations<T>[isa], &splits<T>[isa],
          &joins<T>[isa], &conductances<T>[isa], &point_residuals<T>[isa]};
}

template <class T, class C>
ConversionKernels<T, C> conversion_kernels(simd::Isa isa) {
  return {&additions<Types<T, C>>[isa], &conversions<Types<T, C>>[isa]};
}

template StencilKernels<float> stencil_kernels(int, bool, simd::Isa);
template StencilKernels<double> stencil_kernels(int, bool, simd::Isa);
template TransferKernels<float> transfer_kernels(simd::Isa);
template TransferKernels<double> transfer_kernels(simd::Isa);
template ConversionKernels<float, float> conversion_kernels(simd::Isa);
template ConversionKernels<double, float> conversion_kernels(simd::Isa);
template ConversionKernels<double, double> conversion_kernels(simd::Isa);

}  // namespace plait::poisson

#endif
