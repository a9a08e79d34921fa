#pragma once

#include <cstdint>

namespace plait {

/// Random numbers by counter: the number at a place depends on the seed and the place only, so any number of ranks
/// makes the same matrix, each its own part, in any order.

/// 64 well-mixed bits (two rounds of the finaliser of Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014, with the counter spread by the golden ratio).
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) noexcept {
  auto mixed = [](std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  };
  return mixed(mixed(seed + 0x9e3779b97f4a7c15U) + (counter + 1) * 0x9e3779b97f4a7c15U);
}

/// Uniform in [0, 1), a multiple of 2^-53.
[[nodiscard]] constexpr double random_uniform(std::uint64_t seed, std::uint64_t counter) noexcept {
  return static_cast<double>(random_bits(seed, counter) >> 11) * 0x1p-53;
}

}  // namespace plait
