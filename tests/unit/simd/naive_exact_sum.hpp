#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace plait::simd::test {

/// The sum of real numbers by long addition, a bit at a time, rounded to nearest, ties to even.
template <class T>
T naive_exact_sum(std::span<const T> addends) {
  using Limits = std::numeric_limits<T>;
  constexpr int lowest = -1074;    // 2^lowest is the weight of bits[0]
  std::vector<int> bits(2200, 0);  // each may be any number, until it is carried
  bool positive_infinity = false;
  bool negative_infinity = false;
  bool only_negative_zeros = !addends.empty();
  for (const T addend : addends) {
    if (std::isnan(addend)) return Limits::quiet_NaN();
    if (std::isinf(addend)) (addend > 0 ? positive_infinity : negative_infinity) = true;
    if (addend != 0 || !std::signbit(addend)) only_negative_zeros = false;
    if (addend == 0 || std::isinf(addend)) continue;
    int exponent = 0;
    double rest = std::frexp(std::abs(double{addend}), &exponent);  // in [1/2, 1)
    for (int place = exponent - 1; rest != 0; --place) {
      rest *= 2;
      if (rest < 1) continue;
      rest -= 1;
      bits[static_cast<std::size_t>(place - lowest)] += addend > 0 ? 1 : -1;
    }
  }
  if (positive_infinity && negative_infinity) return Limits::quiet_NaN();
  if (positive_infinity) return Limits::infinity();
  if (negative_infinity) return -Limits::infinity();
  if (only_negative_zeros) return -T(0);

  int last_nonzero = static_cast<int>(bits.size()) - 1;
  const auto carry = [&] {
    int carried = 0;
    for (int& bit : bits) {
      const int value = bit + carried;
      bit = ((value % 2) + 2) % 2;
      carried = (value - bit) / 2;
    }
    return carried;
  };
  const bool negative = carry() < 0;
  if (negative) {  // the complement plus one
    for (int& bit : bits) bit = 1 - bit;
    ++bits[0];
    carry();
  }
  while (last_nonzero >= 0 && bits[static_cast<std::size_t>(last_nonzero)] == 0) --last_nonzero;
  if (last_nonzero < 0) return T(0);

  const int smallest = Limits::min_exponent - Limits::digits - lowest;
  const int unit = std::max(last_nonzero + 1 - Limits::digits, smallest);
  T result = 0;
  for (int place = last_nonzero; place >= unit; --place) {
    if (bits[static_cast<std::size_t>(place)] != 0) result += std::ldexp(T(1), place + lowest);
  }
  const bool odd = bits[static_cast<std::size_t>(unit)] != 0;
  bool above_half = false;
  for (int place = 0; place < unit - 1; ++place) above_half |= bits[static_cast<std::size_t>(place)] != 0;
  const bool half = unit > 0 && bits[static_cast<std::size_t>(unit - 1)] != 0;
  if (half && (above_half || odd)) result += std::ldexp(T(1), unit + lowest);
  return negative ? -result : result;
}

}  // namespace plait::simd::test
