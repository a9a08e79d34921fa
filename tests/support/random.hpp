#pragma once

#include <cstdint>
#include <iterator>

#include "plait/base/index.hpp"
#include "plait/base/random.hpp"

namespace plait::test {

/// A stream of random numbers that is the same on every rank.
struct Random {
  std::uint64_t seed;
  std::uint64_t draws = 0;

  [[nodiscard]] std::uint64_t bits() noexcept { return random_bits(seed, draws++); }
  /// Uniform in 0 … bound - 1.
  template <class Integer>
  [[nodiscard]] Integer below(Integer bound) noexcept {
    return static_cast<Integer>(bits() % static_cast<std::uint64_t>(bound));
  }
  /// Uniform in low … high.
  [[nodiscard]] Index operator()(Index low, Index high) noexcept { return low + below(high - low + 1); }
  /// Uniform from 0 on and below 1.
  [[nodiscard]] double real() noexcept { return random_uniform(seed, draws++); }
  [[nodiscard]] bool one_in(int outcomes) noexcept { return below(outcomes) == 0; }
  /// Any element of a container that isn't empty.
  template <class Container>
  [[nodiscard]] const auto& any_of(const Container& container) noexcept {
    return container[below(std::size(container))];
  }
};

}  // namespace plait::test
