#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>

#include "plait/base/index.hpp"
#include "plait/simd/float16.hpp"

namespace plait::sinkhorn {

/// The difference between 1 and the next number.
template <class T>
[[nodiscard]] constexpr double roundoff_of() {
  if constexpr (std::is_same_v<T, simd::BFloat16>) {
    return 0x1p-7;
  } else {
    return static_cast<double>(std::numeric_limits<T>::epsilon());
  }
}

/// Whether what is left of the error is rounding, and does not become less any more.
[[nodiscard]] inline bool is_as_good_as_it_gets(std::span<const double> errors, double roundoff) {
  constexpr std::size_t patience = 20;
  constexpr double roundings = 64;
  if (errors.size() <= patience || errors.back() > roundings * roundoff) return false;
  return errors.back() > 0.9 * errors[errors.size() - 1 - patience];
}

/// The same where terms are `span` times as large as the logarithms that they add up to, so that these are off by so
/// many roundings, each its own way. Sums of a plan then come and go, while in exact numbers the error of a plain
/// update does not grow.
[[nodiscard]] inline bool is_lost_in_rounding(std::span<const double> errors, double roundoff, double span) {
  constexpr std::size_t patience = 20;
  constexpr int few = 4;
  if (errors.size() <= patience || errors.back() > 4 * span * roundoff) return false;
  if (errors.back() <= 0.9 * errors[errors.size() - 1 - patience]) return false;
  int not_less = 0;
  for (std::size_t k = errors.size() - patience; k < errors.size(); ++k) {
    not_less += static_cast<int>(errors[k] >= errors[k - 1]);
  }
  return not_less > few;
}

/// The same of updates that are not plain, as with over-relaxation: in exact numbers, too, their error comes and goes
/// while it falls, so that it takes as many iterations again without a smaller one to tell.
[[nodiscard]] inline bool is_lost_though_it_may_grow(std::span<const double> errors, double roundoff, double span) {
  constexpr std::size_t patience = 256;
  if (errors.size() < patience || errors.back() > 4 * span * roundoff) return false;
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  return *std::min_element(middle, errors.end()) > 0.9 * *std::min_element(errors.begin(), middle);
}

/// Asked after 64, 128, 256... iterations: whether half of them have not even halved the error. At other times false.
[[nodiscard]] inline bool is_slow(std::span<const double> errors) {
  constexpr std::size_t first = 64;
  const std::size_t n = errors.size();
  if (n < first || (n & (n - 1)) != 0) return false;
  return errors.back() > 0.5 * errors[n / 2 - 1];
}

}  // namespace plait::sinkhorn
