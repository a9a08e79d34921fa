#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/index.hpp"
#include "plait/base/random.hpp"

namespace plait::simd::test {

using Scalars =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                     std::uint64_t, float, double, std::complex<float>, std::complex<double>>;

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// Any integer; reals of all signs and of many sizes, now and then one that is special.
template <class T>
T random_scalar(std::uint64_t seed, std::uint64_t counter) {
  const std::uint64_t bits = random_bits(seed, counter);
  if constexpr (is_complex<T>) {
    using Real = typename T::value_type;
    return T(random_scalar<Real>(seed, 2 * counter), random_scalar<Real>(seed, 2 * counter + 1));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else {
    using Limits = std::numeric_limits<T>;
    constexpr T special[] = {T(0), -T(0), Limits::infinity(), -Limits::infinity(), Limits::max(), Limits::denorm_min()};
    if (bits % 64 == 0) return special[bits / 64 % std::size(special)];
    const T magnitude = std::ldexp(T(random_uniform(seed, counter)), static_cast<int>(bits / 64 % 40) - 20);
    return bits / 4096 % 2 == 0 ? magnitude : -magnitude;
  }
}

/// Where nothing may be read: all bits set, which is a NaN in each part of a real or complex number.
template <class T>
T poison() {
  T value;
  std::memset(static_cast<void*>(&value), 0xff, sizeof value);
  return value;
}

/// Equal to the last bit, signs of zeros included; NaNs are all alike.
template <class T>
bool same_bits(T a, T b) {
  if constexpr (is_complex<T>) {
    return same_bits(a.real(), b.real()) && same_bits(a.imag(), b.imag());
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
  } else {
    return a == b;
  }
}

/// The place of the first element that differs, or -1.
template <class T>
Index first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_bits(a[i], b[i])) return static_cast<Index>(i);
  }
  return -1;
}

/// 0, 1 and others, among them one that is no power of two and one of which only a part is 0.
template <class T>
std::vector<T> factors() {
  if constexpr (is_complex<T>) {
    using Real = typename T::value_type;
    return {T(0), T(1), T(Real(0.3), Real(-1.7)), T(0, 1)};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {T(0), T(1), T(-1.3)};
  } else {
    return {T(0), T(1), static_cast<T>(-77)};
  }
}

}  // namespace plait::simd::test
