#pragma once

#include "plait/base/index.hpp"

namespace plait {

/// ⌈a / b⌉: in how many parts of at most `b` there is room for `a`.
/// \pre  a >= 0, b >= 1, and a + b < 2^63
[[nodiscard]] constexpr Index quotient_up(Index a, Index b) noexcept { return (a + b - 1) / b; }

/// The least multiple of `unit` that is not below `a`.
/// \pre  a >= 0, unit >= 1, and a + unit < 2^63
[[nodiscard]] constexpr Index rounded_up(Index a, Index unit) noexcept { return quotient_up(a, unit) * unit; }

/// ⌊total · share / of⌋, which needs no number larger than that and of².
/// \pre  total >= 0, 0 <= share <= of, of >= 1
[[nodiscard]] constexpr Index portion(Index total, Index share, Index of) noexcept {
  return total / of * share + total % of * share / of;
}

}  // namespace plait
