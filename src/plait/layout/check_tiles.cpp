#include "plait/layout/check_tiles.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::layout {

void check_number_of_tiles(std::span<const TileExtent> expected, int rank, std::size_t number) {
  if (number == expected.size()) return;
  throw ShapeMismatch(fmt::format("rank {} was given {} tiles, expected the {} that it holds in the layout", rank,
                                  number, expected.size()));
}

void check_tile(const TileExtent& expected, int rank, std::size_t number, const GivenTile& tile) {
  const auto& [position, rows, columns] = expected;
  const Shape shape{rows, columns};
  if (tile.shape != shape) {
    throw ShapeMismatch(fmt::format("tile {} of rank {}, at position ({}, {}), is {}, expected {}", number, rank,
                                    position.row, position.column, to_string(tile.shape), to_string(shape)));
  }
  if (!shape.empty() && !tile.has_memory) {
    throw ArgumentError(fmt::format("tile {} of rank {}, at position ({}, {}), is {} and has no memory (null)", number,
                                    rank, position.row, position.column, to_string(shape)));
  }
}

}  // namespace plait::layout
