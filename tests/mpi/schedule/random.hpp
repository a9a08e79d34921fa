#pragma once

#include <cstdint>
#include <iterator>

#include "plait/base/index.hpp"
#include "plait/base/random.hpp"

namespace plait::test {

/// A stream of random numbers that is the same on every rank.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : seed_(seed) {}

  [[nodiscard]] std::uint64_t bits() noexcept { return random_bits(seed_, drawn_++); }
  /// Uniform in 0 … bound - 1.
  template <class Integer>
  [[nodiscard]] Integer below(Integer bound) noexcept {
    return static_cast<Integer>(bits() % static_cast<std::uint64_t>(bound));
  }
  [[nodiscard]] bool one_in(int outcomes) noexcept { return below(outcomes) == 0; }
  /// Any element of a container that isn't empty.
  template <class Container>
  [[nodiscard]] const auto& any_of(const Container& container) noexcept {
    return container[below(std::size(container))];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

}  // namespace plait::test
