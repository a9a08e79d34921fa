#include "plait/simd/exact/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

namespace plait::simd {

namespace {

constexpr int digit_bits = 32;
constexpr std::int64_t digit_mask = (std::int64_t{1} << digit_bits) - 1;
/// The accumulator's last place: that of the smallest subnormal double.
constexpr int last_place = std::numeric_limits<double>::min_exponent - std::numeric_limits<double>::digits;

/// The `count` < 64 bits from bit `first` on.
std::uint64_t bits_from(std::span<const std::int64_t> digits, int first, int count) {
  const auto lowest = static_cast<std::size_t>(first / digit_bits);
  const int shift = first % digit_bits;
  std::uint64_t bits = static_cast<std::uint64_t>(digits[lowest]) >> shift;
  for (std::size_t i = 1; i <= 2 && lowest + i < digits.size(); ++i) {
    const int place = static_cast<int>(i) * digit_bits - shift;
    if (place < 64) bits |= static_cast<std::uint64_t>(digits[lowest + i]) << place;
  }
  return bits & ((std::uint64_t{1} << count) - 1);
}

/// Whether any bit below this one is set.
bool any_below(std::span<const std::int64_t> digits, int place) {
  if (place <= 0) return false;
  const auto whole = static_cast<std::size_t>(place / digit_bits);
  const std::int64_t rest = digits[whole] & ((std::int64_t{1} << place % digit_bits) - 1);
  return rest != 0 || std::any_of(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(whole),
                                  [](std::int64_t digit) { return digit != 0; });
}

/// The number that the digits make, all of them in [0, 2^32), rounded to nearest, ties to even. By its bits, for no
/// rounding mode to matter.
template <class T>
T rounded_magnitude(std::span<const std::int64_t> digits) {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  auto top = static_cast<int>(digits.size()) - 1;
  while (top >= 0 && digits[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return T(0);
  const auto top_digit = static_cast<std::uint64_t>(digits[static_cast<std::size_t>(top)]);
  const int highest = top * digit_bits + static_cast<int>(std::bit_width(top_digit)) - 1;

  // The last place of the result, unless rounding moves it on: the highest bit's, or that of the subnormal numbers.
  constexpr int subnormal_last = Limits::min_exponent - Limits::digits - last_place;
  const int last = std::max(highest - Limits::digits + 1, subnormal_last);
  std::uint64_t significand = bits_from(digits, last, Limits::digits);
  const bool half = last > 0 && bits_from(digits, last - 1, 1) != 0;
  if (half && ((significand & 1) != 0 || any_below(digits, last - 1))) ++significand;

  // The significand's highest bit adds the 1 that the exponents of normal numbers lack here, and one more if it was
  // rounded up to a power of two.
  const std::uint64_t exponent = static_cast<std::uint64_t>(last - subnormal_last) << (Limits::digits - 1);
  const auto infinity = std::uint64_t{std::bit_cast<Bits>(Limits::infinity())};
  return std::bit_cast<T>(static_cast<Bits>(std::min(exponent + significand, infinity)));
}

}  // namespace

void ExactSum::add(double addend) {
  constexpr int fraction_bits = std::numeric_limits<double>::digits - 1;
  constexpr int exponent_mask = 0x7ff;
  const auto bits = std::bit_cast<std::uint64_t>(addend);
  const bool negative = bits >> 63 != 0;
  const auto exponent = static_cast<int>(bits >> fraction_bits & exponent_mask);
  std::uint64_t significand = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  if (exponent == exponent_mask) {
    ++words_[significand != 0 ? nans : negative ? minus_infinities : infinities];
    return;
  }
  if (exponent == 0 && significand == 0 && negative) {
    ++words_[negative_zeros];
    return;
  }
  ++words_[others];
  if (exponent != 0) significand |= std::uint64_t{1} << fraction_bits;
  const int place = exponent == 0 ? 0 : exponent - 1;
  const auto digit = static_cast<std::size_t>(place / digit_bits);
  const int shift = place % digit_bits;
  const auto low = static_cast<std::int64_t>(significand << shift & std::uint64_t{digit_mask});
  const auto high = static_cast<std::int64_t>(significand >> (digit_bits - shift));
  const std::int64_t sign = negative ? -1 : 0;  // without a branch, which nothing could foretell
  words_[digit] += (low ^ sign) - sign;
  words_[digit + 1] += (high ^ sign) - sign;
  if (--adds_until_carry_ == 0) {
    carry(words_);
    adds_until_carry_ = adds_between_carries;
  }
}

void ExactSum::carry(State& words) {
  std::int64_t carried = 0;
  for (std::size_t i = 0; i + 1 < digit_count; ++i) {
    const std::int64_t digit = words[i] + carried;
    words[i] = digit & digit_mask;
    carried = digit >> digit_bits;  // rounds down, also below zero
  }
  words[digit_count - 1] += carried;
}

void ExactSum::merge(const ExactSum& other) {
  State added = other.words_;
  carry(added);
  carry(words_);
  for (std::size_t i = 0; i < word_count; ++i) words_[i] += added[i];
  carry(words_);
  adds_until_carry_ = adds_between_carries;
}

const ExactSum::State& ExactSum::state() {
  carry(words_);
  adds_until_carry_ = adds_between_carries;
  for (std::size_t i = digit_count; i < word_count; ++i) words_[i] = std::min<std::int64_t>(words_[i], 1);
  if (words_[others] != 0) words_[negative_zeros] = 0;
  return words_;
}

void ExactSum::set_state(const State& state) {
  words_ = state;
  carry(words_);
  adds_until_carry_ = adds_between_carries;
}

template <class T>
  requires std::same_as<T, float> || std::same_as<T, double>
T ExactSum::rounded() const {
  using Limits = std::numeric_limits<T>;
  if (words_[nans] != 0 || (words_[infinities] != 0 && words_[minus_infinities] != 0)) return Limits::quiet_NaN();
  if (words_[infinities] != 0) return Limits::infinity();
  if (words_[minus_infinities] != 0) return -Limits::infinity();
  if (words_[others] == 0) return words_[negative_zeros] != 0 ? -T(0) : T(0);

  State words = words_;
  carry(words);
  const bool negative = words[digit_count - 1] < 0;
  if (negative) {
    for (std::size_t i = 0; i < digit_count; ++i) words[i] = -words[i];
    carry(words);
  }
  const T magnitude = rounded_magnitude<T>({words.data(), digit_count});
  return negative ? -magnitude : magnitude;
}

template float ExactSum::rounded<float>() const;
template double ExactSum::rounded<double>() const;

}  // namespace plait::simd
