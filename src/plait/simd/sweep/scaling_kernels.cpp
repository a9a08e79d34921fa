#include "plait/simd/sweep/scaling_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include "plait/simd/prefetch.hpp"
#include "plait/simd/sweep/kernel_table.hpp"
#include "plait/simd/sweep/scaling_reference.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/sweep/scaling_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "plait/simd/sweep/element_vectors.inl"
// clang-format on

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(fetch), where fetch(j, columns) fetches so many columns from the j-th on of the rows ahead: the usual number
/// of them in straight code, since a loop in a pass over other rows costs 5 % of a sweep.
template <class T, class F>
HWY_INLINE void with_fetch(const RowsAhead<T>& ahead, F&& f) {
  const auto fetch_rows = [&ahead](Index rows, Index j, Index columns) HWY_ATTR {
    for (Index i = 0; i < rows; ++i) {
      const T* row = ahead.data + i * ahead.leading_dimension + j;
      for (Index past = 0; past < columns; past += line_bytes / Index{sizeof(T)}) prefetch(row + past);
    }
  };
  constexpr Index usual = most_rows_at_a_time / 2;
  if (ahead.rows == usual) {
    f([&](Index j, Index columns) HWY_ATTR { fetch_rows(usual, j, columns); });
  } else {
    f([&](Index j, Index columns) HWY_ATTR { fetch_rows(ahead.rows, j, columns); });
  }
}

/// Two accumulators for each row and two vectors of v have to have registers.
constexpr std::size_t rows_of_sums = HWY_TARGET == HWY_AVX3 ? 8 : 4;

template <std::size_t rows, class T, class A>
HWY_INLINE void add_rows(const T* k, Index leading_dimension, Index columns, const A* v, A* sums,
                         const RowsAhead<T>& ahead) {
  const hn::ScalableTag<A> d;
  using V = hn::VFromD<decltype(d)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  V even[rows];
  V odd[rows];
  for (std::size_t i = 0; i < rows; ++i) even[i] = odd[i] = hn::Zero(d);
  Index j = 0;
  const auto add_all = [&](auto&& fetch) HWY_ATTR {
    for (; j + 2 * lanes <= columns; j += 2 * lanes) {
      fetch(j, 2 * lanes);
      if constexpr (std::is_same_v<T, BFloat16>) {
        V v_even;
        V v_odd;
        hn::LoadInterleaved2(d, v + j, v_even, v_odd);
        for (std::size_t i = 0; i < rows; ++i) {
          const auto elements = load_even_odd(d, k + static_cast<Index>(i) * leading_dimension + j);
          even[i] = hn::MulAdd(elements.even, v_even, even[i]);
          odd[i] = hn::MulAdd(elements.odd, v_odd, odd[i]);
        }
      } else {
        const V v0 = hn::LoadU(d, v + j);
        const V v1 = hn::LoadU(d, v + j + lanes);
        for (std::size_t i = 0; i < rows; ++i) {
          const T* row = k + static_cast<Index>(i) * leading_dimension + j;
          even[i] = hn::MulAdd(load_as(d, row), v0, even[i]);
          odd[i] = hn::MulAdd(load_as(d, row + lanes), v1, odd[i]);
        }
      }
    }
  };
  with_fetch(ahead, add_all);
  for (std::size_t i = 0; i < rows; ++i) {
    const T* row = k + static_cast<Index>(i) * leading_dimension;
    A sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even[i], odd[i])));
    for (Index rest = j; rest < columns; ++rest) sum += widened<A>(row[rest]) * v[rest];
    sums[i] = sum;
  }
}

template <std::size_t rows, class T, class A>
HWY_INLINE void add_columns(const T* k, Index leading_dimension, Index columns, const A* u, A* c,
                            const RowsAhead<T>& ahead) {
  const hn::ScalableTag<A> d;
  using V = hn::VFromD<decltype(d)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  constexpr Index step = std::is_same_v<T, BFloat16> ? 2 * lanes : std::max(lanes, line_bytes / Index{sizeof(T)});
  V factors[rows];
  for (std::size_t i = 0; i < rows; ++i) factors[i] = hn::Set(d, u[i]);
  const auto add_vector = [&](Index j) HWY_ATTR {
    V sum = hn::LoadU(d, c + j);
    for (std::size_t i = 0; i < rows; ++i) {
      sum = hn::MulAdd(factors[i], load_as(d, k + static_cast<Index>(i) * leading_dimension + j), sum);
    }
    hn::StoreU(sum, d, c + j);
  };
  const auto add_step = [&](Index j) HWY_ATTR {
    if constexpr (std::is_same_v<T, BFloat16>) {
      V even;
      V odd;
      hn::LoadInterleaved2(d, c + j, even, odd);
      for (std::size_t i = 0; i < rows; ++i) {
        const auto elements = load_even_odd(d, k + static_cast<Index>(i) * leading_dimension + j);
        even = hn::MulAdd(factors[i], elements.even, even);
        odd = hn::MulAdd(factors[i], elements.odd, odd);
      }
      hn::StoreInterleaved2(even, odd, d, c + j);
    } else {
      for (Index past = 0; past < step; past += lanes) add_vector(j + past);
    }
  };
  Index j = 0;
  with_fetch(ahead, [&](auto&& fetch) HWY_ATTR {
    for (; j + step <= columns; j += step) {
      fetch(j, step);
      add_step(j);
    }
  });
  for (; j + lanes <= columns; j += lanes) add_vector(j);
  for (; j < columns; ++j) {
    A sum = c[j];
    for (std::size_t i = 0; i < rows; ++i) sum += u[i] * widened<A>(k[static_cast<Index>(i) * leading_dimension + j]);
    c[j] = sum;
  }
}

template <std::size_t rows, class T, class A>
HWY_INLINE void rescale_rows(T* k, Index leading_dimension, Index columns, const A* u, const A* v, A* c,
                             const RowsAhead<T>& ahead) {
  const hn::ScalableTag<A> d;
  using V = hn::VFromD<decltype(d)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  constexpr Index step = std::max(lanes, line_bytes / Index{sizeof(T)});
  V factors[rows];
  for (std::size_t i = 0; i < rows; ++i) factors[i] = hn::Set(d, u[i]);
  const auto rescale_vector = [&](Index j) HWY_ATTR {
    const V by_column = hn::LoadU(d, v + j);
    V sum = hn::LoadU(d, c + j);
    for (std::size_t i = 0; i < rows; ++i) {
      T* at = k + static_cast<Index>(i) * leading_dimension + j;
      const V scaled = hn::Mul(hn::Mul(load_as(d, at), by_column), factors[i]);
      store_as(d, scaled, at);
      sum = hn::Add(sum, scaled);
    }
    hn::StoreU(sum, d, c + j);
  };
  Index j = 0;
  with_fetch(ahead, [&](auto&& fetch) HWY_ATTR {
    for (; j + step <= columns; j += step) {
      fetch(j, step);
      for (Index past = 0; past < step; past += lanes) rescale_vector(j + past);
    }
  });
  for (; j + lanes <= columns; j += lanes) rescale_vector(j);
  for (; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) {
      T& element = k[static_cast<Index>(i) * leading_dimension + j];
      const A scaled = widened<A>(element) * v[j] * u[i];
      element = narrowed<T>(scaled);
      c[j] += scaled;
    }
  }
}

template <std::size_t rows, class T, class A>
HWY_INLINE void multiply_rows(T* k, Index leading_dimension, Index columns, const A* v) {
  const hn::ScalableTag<A> d;
  using V = hn::VFromD<decltype(d)>;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(d));
  Index j = 0;
  for (; j + lanes <= columns; j += lanes) {
    const V by_column = hn::LoadU(d, v + j);
    for (std::size_t i = 0; i < rows; ++i) {
      T* at = k + static_cast<Index>(i) * leading_dimension + j;
      store_as(d, hn::Mul(load_as(d, at), by_column), at);
    }
  }
  for (; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) {
      T& element = k[static_cast<Index>(i) * leading_dimension + j];
      element = narrowed<T>(widened<A>(element) * v[j]);
    }
  }
}

}  // namespace

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void row_sums_of_target(RowBlock<const T> k, const A* v, A* sums, RowsAhead<T> ahead) {
  for_rows<rows_of_sums, 4, 2, 1>(k.rows, [&](auto rows, Index i) HWY_ATTR {
    add_rows<rows>(k.data + i * k.leading_dimension, k.leading_dimension, k.columns, v, sums + i, ahead);
    ahead.rows = 0;
  });
}

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void column_sums_of_target(RowBlock<const T> k, const A* u, A* c, RowsAhead<T> ahead) {
  for_rows<8, 4, 2, 1>(k.rows, [&](auto rows, Index i) HWY_ATTR {
    add_columns<rows>(k.data + i * k.leading_dimension, k.leading_dimension, k.columns, u + i, c, ahead);
    ahead.rows = 0;
  });
}

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void rescale_of_target(RowBlock<T> k, const A* u, const A* v, A* c, RowsAhead<T> ahead) {
  for_rows<4, 1>(k.rows, [&](auto rows, Index i) HWY_ATTR {
    rescale_rows<rows>(k.data + i * k.leading_dimension, k.leading_dimension, k.columns, u + i, v, c, ahead);
    ahead.rows = 0;
  });
}

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void multiply_columns_of_target(RowBlock<T> k, const A* v) {
  for_rows<4, 1>(k.rows, [&](auto rows, Index i) HWY_ATTR {
    multiply_rows<rows>(k.data + i * k.leading_dimension, k.leading_dimension, k.columns, v);
  });
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

PLAIT_SIMD_TABLE_OF(row_sums);
PLAIT_SIMD_TABLE_OF(column_sums);
PLAIT_SIMD_TABLE_OF(rescale);
PLAIT_SIMD_TABLE_OF(multiply_columns);

}  // namespace

template <class T, class A>
  requires ComputedAs<T, A>
ScalingKernels<T, A> scaling_kernels(Isa isa) {
  using Pair = ElementAndNumber<T, A>;
  return {&row_sums_kernels<Pair>[isa], &column_sums_kernels<Pair>[isa], &rescale_kernels<Pair>[isa],
          &multiply_columns_kernels<Pair>[isa]};
}

template decltype(scaling_kernels<double, double>) scaling_kernels<double, double>;
template decltype(scaling_kernels<float, float>) scaling_kernels<float, float>;
template decltype(scaling_kernels<float, double>) scaling_kernels<float, double>;
template decltype(scaling_kernels<BFloat16, float>) scaling_kernels<BFloat16, float>;

}  // namespace plait::simd
#endif
