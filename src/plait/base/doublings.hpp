#pragma once

#include <bit>

namespace plait {

/// ⌈log₂ n⌉: the rounds in which what one rank has can come to n.
/// \pre  n >= 1
[[nodiscard]] constexpr int doublings(int n) noexcept {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)));
}

}  // namespace plait
