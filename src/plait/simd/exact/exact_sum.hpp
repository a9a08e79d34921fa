#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plait/base/index.hpp"

namespace plait::simd {

/// The exact sum of any floats and doubles, to be rounded once at the end. It depends on which numbers were added and
/// on nothing else: not on their order, nor on how they were shared out among accumulators that were merged afterwards.
///
/// The sum is an integer multiple of 2^-1074, kept in digits of 32 bits, each in a word of 64 so that carries can wait.
/// Numbers that are not finite are noted apart. 0.6 kB; `add` takes 1 to 2 ns, `rounded` about 100.
///
/// Source: Neal, "Fast exact summation using small and large superaccumulators", arXiv:1505.05571, section 3.
class ExactSum {
 public:
  /// Digits for 2^63 addends of any size, then words that are 0 unless there was a NaN among the addends, an infinity,
  /// a minus infinity, a -0, any other number.
  static constexpr std::size_t digit_count = 68;
  static constexpr std::size_t word_count = digit_count + 5;
  using State = std::array<std::int64_t, word_count>;

  void add(double addend);

  /// Adds what another has summed up.
  void merge(const ExactSum& other);

  /// The sum, rounded to nearest, ties to even; infinite if it is beyond T's range, which no sum on the way can cause.
  ///
  /// NaN (the quiet one without sign or payload) if an addend is NaN or there are infinities of both signs; infinite if
  /// there are some of one sign. A sum of zero is -0 where all addends are -0 and there is one, otherwise +0.
  template <class T>
    requires std::same_as<T, float> || std::same_as<T, double>
  [[nodiscard]] T rounded() const;

  /// What the accumulator holds, in a form fit for messages: the same words for the same addends, and the sum of up to
  /// 2^30 states, word by word as integers, is a state of all their addends. So an all-reduce of integers merges
  /// accumulators.
  [[nodiscard]] const State& state();
  void set_state(const State& state);

 private:
  enum Word : std::size_t { nans = digit_count, infinities, minus_infinities, negative_zeros, others };

  /// Brings all digits but the highest into [0, 2^32).
  static void carry(State& words);

  State words_{};
  int adds_until_carry_ = adds_between_carries;
  static constexpr int adds_between_carries = 512;  // each adds less than 2^53 to a word
};

}  // namespace plait::simd
