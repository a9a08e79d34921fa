#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "plait/base/random.hpp"

namespace plait::simd::test {

/// What makes sums hard.
enum class Addends {
  alike,
  of_all_sizes,
  cancelling,
  cancelling_late,
  near_ties,
  near_overflow,
  subnormal,
  zeros,
  with_special_ones
};
inline constexpr std::array all_addends{Addends::alike,           Addends::of_all_sizes, Addends::cancelling,
                                        Addends::cancelling_late, Addends::near_ties,    Addends::near_overflow,
                                        Addends::subnormal,       Addends::zeros,        Addends::with_special_ones};

/// `count` addends of one kind, the same for the same seed.
template <class T>
std::vector<T> addends(Addends kind, std::size_t count, std::uint64_t seed) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random_bits(seed, 2 * i);
    const T sign = bits % 2 == 0 ? T(1) : T(-1);
    const auto pick = static_cast<int>(bits / 2 % 4096);
    const T fraction = T(random_uniform(seed, 2 * i + 1));
    const int exponents = Limits::max_exponent - Limits::min_exponent + Limits::digits;
    const T of_any_size = std::ldexp(sign * fraction, Limits::max_exponent - pick % exponents);
    switch (kind) {
      case Addends::alike: result[i] = sign * fraction; break;
      case Addends::of_all_sizes: result[i] = of_any_size; break;
      case Addends::cancelling:
        result[i] = i % 2 == 1 && pick % 4 != 0 ? -result[i - 1] : std::ldexp(sign * fraction, pick % 120 - 60);
        break;
      case Addends::cancelling_late:  // the small ones are met when the large ones are still there
        if (i < count / 3) {
          result[i] = std::ldexp(sign * fraction, Limits::max_exponent - 10 - 55 * static_cast<int>(i % 5));
        } else if (i < count - count / 3) {
          result[i] = std::ldexp(sign * fraction, -(pick % 100));
        } else {
          result[i] = -result[i - (count - count / 3)];
        }
        break;
      case Addends::near_ties: {
        const int places[] = {0,
                              0,
                              -1,
                              1 - Limits::digits,
                              -Limits::digits,
                              -Limits::digits - 1,
                              -2 * Limits::digits,
                              -2 * Limits::digits - 1,
                              -4 * Limits::digits};
        const auto place = static_cast<std::size_t>(pick) % std::size(places);
        result[i] = std::ldexp(place == 1 ? sign * fraction : sign, places[place]);
        break;
      }
      case Addends::near_overflow:
        result[i] = pick % 3 == 0 ? sign * Limits::max() : sign * fraction * Limits::max();
        break;
      case Addends::subnormal: result[i] = sign * fraction * Limits::min() * T(pick % 3); break;
      case Addends::zeros: result[i] = pick % 8 == 0 ? T(0) : -T(0); break;
      case Addends::with_special_ones: {
        const T special[] = {Limits::infinity(), -Limits::infinity(), -Limits::quiet_NaN(), -T(0),
                             sign * Limits::max()};
        result[i] = pick % 4 == 0 ? special[static_cast<std::size_t>(pick) / 4 % std::size(special)] : sign * fraction;
        break;
      }
    }
  }
  return result;
}

}  // namespace plait::simd::test
