#pragma once

#include <concepts>
#include <type_traits>

#include "plait/base/index.hpp"
#include "plait/simd/float16.hpp"

namespace plait::simd {

/// A few rows of a row-major matrix: element (i, j) lies at `data[i * leading_dimension + j]`. `T` may be const.
template <class T>
struct RowBlock {
  T* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index leading_dimension = 1;
};

/// Rows of a matrix that are fetched into the caches while others are computed with, as many columns of each; none by
/// default.
template <class T>
using RowsAhead = RowBlock<const T>;

/// What elements of a matrix are computed with: themselves, or something wider.
template <class T, class A>
concept ComputedAs = (std::same_as<T, double> && std::same_as<A, double>) ||
                     (std::same_as<T, float> && (std::same_as<A, float> || std::same_as<A, double>)) ||
                     (std::same_as<T, BFloat16> && std::same_as<A, float>);

/// The two as one type.
template <class T, class A>
struct ElementAndNumber {
  using Element = T;
  using Number = A;
};

/// The type in which an element is exactly itself.
template <class T>
using FloatOf = std::conditional_t<std::same_as<T, BFloat16>, float, T>;

/// An element as the number that it is computed with.
template <class A, class T>
[[nodiscard]] constexpr A widened(T element) {
  if constexpr (std::same_as<T, BFloat16>) {
    return static_cast<A>(to_float(element));
  } else {
    return static_cast<A>(element);
  }
}

/// The element that is nearest to a number.
template <class T, class A>
[[nodiscard]] constexpr T narrowed(A number) {
  if constexpr (std::same_as<T, BFloat16>) {
    return to_bfloat16(static_cast<float>(number));
  } else {
    return static_cast<T>(number);
  }
}

}  // namespace plait::simd
