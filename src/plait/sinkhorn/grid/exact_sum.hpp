#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "plait/base/index.hpp"

namespace plait::sinkhorn {

/// Numbers in [0, 4], to 2^-52, as digits that ride along with a vector of numbers A and are summed up with it: sums of
/// digits are whole numbers that A has exactly, so that whoever sums up, in whatever order, gets the same. Groups of
/// ranks that each sum up the same numbers by ways of their own decide alike by such a sum.
template <class A>
class ExactSum {
 public:
  /// \param addends  how many there are
  explicit ExactSum(int addends)
      : digit_bits_(std::numeric_limits<A>::digits - static_cast<int>(std::bit_width(static_cast<unsigned>(addends)))) {
  }

  /// How many digits there are.
  [[nodiscard]] Index size() const noexcept { return (bits + digit_bits_ - 1) / digit_bits_; }

  /// \pre  digits.size() == size(); the value is a number
  void write(double value, std::span<A> digits) const noexcept {
    auto rest = static_cast<std::uint64_t>(std::ldexp(std::clamp(value, 0.0, 4.0), fraction_bits));
    for (A& digit : digits) {
      digit = static_cast<A>(rest & ((std::uint64_t{1} << digit_bits_) - 1));
      rest >>= digit_bits_;
    }
  }

  /// The sum of what was written.
  [[nodiscard]] double read(std::span<const A> digits) const noexcept {
    double sum = 0;
    for (std::size_t k = digits.size(); k-- > 0;) {
      sum = std::ldexp(sum, digit_bits_) + static_cast<double>(digits[k]);
    }
    return std::ldexp(sum, -fraction_bits);
  }

 private:
  static constexpr int fraction_bits = 52;
  static constexpr int bits = fraction_bits + 3;

  int digit_bits_;
};

}  // namespace plait::sinkhorn
