#include "plait/layout/distributed_matrix.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"

namespace plait::layout {

TilePlacement place_tiles(const Layout& layout, int rank, Index element_bytes) {
  PLAIT_ASSERT(element_bytes > 0, "an element has a size");
  if (rank < 0) throw ArgumentError(fmt::format("the rank is {}, expected at least 0", rank));
  constexpr auto alignment = static_cast<Index>(Buffer::alignment);

  TilePlacement placement{layout.tiles_of(rank), {}, 0};
  placement.offsets.reserve(placement.tiles.size());
  for (const TileExtent& tile : placement.tiles) {
    placement.offsets.push_back(placement.bytes);
    Index bytes = 0;
    Index end = 0;
    const bool too_many = __builtin_mul_overflow(tile.rows, tile.columns, &bytes) ||
                          __builtin_mul_overflow(bytes, element_bytes, &bytes) ||
                          __builtin_add_overflow(placement.bytes, bytes, &end) ||
                          __builtin_add_overflow(end, alignment - 1, &end);
    if (too_many) {
      throw OutOfMemory(fmt::format("the tiles of rank {} need more than 2^63 bytes: tile ({}, {}) alone is {}", rank,
                                    tile.position.row, tile.position.column, to_string({tile.rows, tile.columns})));
    }
    placement.bytes = end / alignment * alignment;
  }
  return placement;
}

void expect_memory(const TilePlacement& placement, std::span<const std::byte> memory) {
  if (static_cast<Index>(memory.size()) < placement.bytes) {
    throw ArgumentError(
        fmt::format("memory: {} bytes, expected at least {} for the tiles", memory.size(), placement.bytes));
  }
  if (placement.bytes > 0 && reinterpret_cast<std::uintptr_t>(memory.data()) % Buffer::alignment != 0) {
    throw ArgumentError(fmt::format("memory: begins within a cache line, expected a multiple of {} bytes as address",
                                    Buffer::alignment));
  }
}

}  // namespace plait::layout
