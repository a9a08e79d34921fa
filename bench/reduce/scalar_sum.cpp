#include "bench/reduce/scalar_sum.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace plait::bench {

namespace {

float to_float(std::uint16_t value) { return std::bit_cast<float>(std::uint32_t{value} << 16); }

std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace

void scalar_bfloat16_sum(Index n, const void* in, void* inout) {
  const auto* a = static_cast<const std::uint16_t*>(in);
  auto* b = static_cast<std::uint16_t*>(inout);
  for (Index i = 0; i < n; ++i) b[i] = to_bfloat16(to_float(a[i]) + to_float(b[i]));
}

}  // namespace plait::bench
