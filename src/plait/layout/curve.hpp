#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace plait::layout {

/// Keys of cells along space-filling curves, of at most 63 bits: `bits` of each coordinate, in 2 or 3 dimensions.

template <std::size_t Dimensions>
using Cell = std::array<std::uint32_t, Dimensions>;
/// How many bits of a coordinate a key has room for.
template <std::size_t Dimensions>
inline constexpr int curve_bits = Dimensions == 2 ? 31 : 21;

/// The bits of the coordinates in turn, the highest first: the order of a quadtree's or octree's leaves.
template <std::size_t Dimensions>
[[nodiscard]] constexpr std::uint64_t morton_key(const Cell<Dimensions>& cell, int bits = curve_bits<Dimensions>) {
  std::uint64_t key = 0;
  for (int bit = bits; bit-- > 0;) {
    for (const std::uint32_t coordinate : cell) key = (key << 1U) | ((coordinate >> static_cast<unsigned>(bit)) & 1U);
  }
  return key;
}

/// Hilbert's curve: cells with neighbouring keys are neighbours.
///
/// Source: Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004).
template <std::size_t Dimensions>
[[nodiscard]] constexpr std::uint64_t hilbert_key(Cell<Dimensions> cell, int bits = curve_bits<Dimensions>) {
  const std::uint32_t top = std::uint32_t{1} << static_cast<unsigned>(bits - 1);
  for (std::uint32_t q = top; q > 1; q >>= 1U) {
    const std::uint32_t below = q - 1;
    for (auto& coordinate : cell) {
      if ((coordinate & q) != 0) {
        cell[0] ^= below;
      } else {
        const std::uint32_t swapped = (cell[0] ^ coordinate) & below;
        cell[0] ^= swapped;
        coordinate ^= swapped;
      }
    }
  }
  for (std::size_t i = 1; i < cell.size(); ++i) cell[i] ^= cell[i - 1];
  std::uint32_t flipped = 0;
  for (std::uint32_t q = top; q > 1; q >>= 1U) {
    if ((cell.back() & q) != 0) flipped ^= q - 1;
  }
  for (auto& coordinate : cell) coordinate ^= flipped;
  return morton_key<Dimensions>(cell, bits);
}

}  // namespace plait::layout
