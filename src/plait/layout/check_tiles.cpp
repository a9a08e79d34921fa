#include "plait/layout/check_tiles.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::layout {

void check_given_tiles(const Layout& layout, int rank, std::span<const GivenTile> tiles) {
  const std::vector<TileExtent> expected = layout.tiles_of(rank);
  if (tiles.size() != expected.size()) {
    throw ShapeMismatch(fmt::format("rank {} was given {} tiles, expected the {} that it holds in the layout", rank,
                                    tiles.size(), expected.size()));
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const auto& [position, rows, columns] = expected[i];
    const Shape shape{rows, columns};
    if (tiles[i].shape != shape) {
      throw ShapeMismatch(fmt::format("tile {} of rank {}, at position ({}, {}), is {}, expected {}", i, rank,
                                      position.row, position.column, to_string(tiles[i].shape), to_string(shape)));
    }
    if (!shape.empty() && !tiles[i].has_memory) {
      throw ArgumentError(fmt::format("tile {} of rank {}, at position ({}, {}), is {} and has no memory (null)", i,
                                      rank, position.row, position.column, to_string(shape)));
    }
  }
}

}  // namespace plait::layout
