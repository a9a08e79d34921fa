#pragma once

#include <bit>
#include <cstdint>

namespace plait::simd {

/// IEEE binary16: a sign, 5 bits of exponent, 10 of the significand.
struct Float16 {
  std::uint16_t bits;
};

/// The upper half of a float: a sign, 8 bits of exponent, 7 of the significand.
struct BFloat16 {
  std::uint16_t bits;
};

/// Exact; a NaN becomes a NaN.
[[nodiscard]] constexpr float to_float(BFloat16 number) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(number.bits) << 16);
}

[[nodiscard]] constexpr float to_float(Float16 number) {
  const std::uint32_t sign = (number.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = number.bits & 0x7fffU;
  constexpr std::uint32_t least_normal = 0x0400;
  constexpr std::uint32_t infinity = 0x7c00;
  if (magnitude < least_normal) {  // 0 or subnormal: a multiple of 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return sign == 0 ? value : -value;
  }
  // The bias of the exponent goes from 15 to 127, and from 31 to 255 where it says infinity or NaN.
  const std::uint32_t rebias = magnitude < infinity ? 127U - 15U : 255U - 31U;
  return std::bit_cast<float>(sign | ((magnitude << 13) + (rebias << 23)));
}

/// Rounds to nearest, ties to even, what is too large to infinity; a NaN becomes a quiet NaN.
[[nodiscard]] constexpr BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return {static_cast<std::uint16_t>(bits >> 16 | 0x40U)};
  const std::uint32_t odd = bits >> 16 & 1U;
  return {static_cast<std::uint16_t>((bits + 0x7fffU + odd) >> 16)};
}

[[nodiscard]] constexpr Float16 to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t rounded = 0;
  if (value != value) {
    rounded = 0x7e00U;
  } else if (magnitude >= std::bit_cast<std::uint32_t>(0x1p16F)) {
    rounded = 0x7c00U;  // what rounds up to 2^16 gets there by itself
  } else if (magnitude < std::bit_cast<std::uint32_t>(0x1p-14F)) {
    // Subnormal. The last bit of a float between 1/2 and 1 is worth 2^-24: adding 1/2 rounds.
    rounded = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  } else {
    const std::uint32_t odd = magnitude >> 13 & 1U;
    rounded = (magnitude - ((127U - 15U) << 23) + 0xfffU + odd) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | rounded)};
}

}  // namespace plait::simd
