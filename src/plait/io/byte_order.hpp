#pragma once

#include <bit>
#include <cstddef>
#include <span>

#include "plait/base/index.hpp"

namespace plait::io {

inline constexpr bool machine_is_big_endian = std::endian::native == std::endian::big;

/// Reverses the bytes of each of the numbers that lie in `data`, `unit` bytes each. A complex number is two of them.
///
/// \pre  unit is 1, 2, 4 or 8 and divides the size of the data
void swap_bytes(std::span<std::byte> data, Index unit);

}  // namespace plait::io
