#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "plait/simd/float16.hpp"

/// Whether iterations still lead anywhere, as their errors so far tell.
namespace plait::iterate {

/// The difference between 1 and the next number.
template <class T>
[[nodiscard]] constexpr double roundoff_of() {
  if constexpr (std::is_same_v<T, simd::BFloat16>) {
    return 0x1p-7;
  } else {
    return static_cast<double>(std::numeric_limits<T>::epsilon());
  }
}

/// How errors behave in exact numbers.
enum class Errors : unsigned char {
  fall,       ///< none is larger than the one before
  fluctuate,  ///< they come and go while they fall
};

/// What the errors of a method are off by.
struct Rounding {
  double roundoff = 0;  ///< the difference between 1 and the next number of those that are computed with
  double span = 0;      ///< how large the terms of exponents are; 0: there are none
  Errors errors = Errors::fall;
  std::string terms = {};  ///< what these are, in words
};

/// Whether what is left of the error is a few roundings, and does not become less any more.
[[nodiscard]] bool is_at_roundoff(std::span<const double> errors, double roundoff);

/// The same, also where terms are `span` times as large as the logarithms that they add up to, so that these are off by
/// so many roundings, each its own way: sums then come and go. Errors that fluctuate anyway take as many iterations
/// again without a smaller one to tell.
///
/// \param fall_from  the first error of those that are to fall
[[nodiscard]] bool is_rounding(std::span<const double> errors, const Rounding& rounding, std::size_t fall_from = 0);

/// After 64, 128, 256... iterations.
[[nodiscard]] constexpr bool is_to_be_asked(std::size_t iterations) noexcept {
  constexpr std::size_t first = 64;
  return iterations >= first && (iterations & (iterations - 1)) == 0;
}

/// Asked then: whether half of the iterations have not even halved the error. At other times false.
[[nodiscard]] bool is_slow(std::span<const double> errors);

}  // namespace plait::iterate
