#pragma once

#include <span>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/layout/layout.hpp"

namespace plait::layout {

/// What can be checked of a tile without knowing its type.
struct GivenTile {
  Shape shape;
  bool has_memory = false;
};

/// \throws ShapeMismatch  naming how many tiles there are and how many the rank holds
void check_number_of_tiles(std::span<const TileExtent> expected, int rank, std::size_t number);

/// \param expected  what the rank holds in the layout: one of `Layout::tiles_of`, with this number
/// \throws ShapeMismatch  naming the tile, the shape that it has and the one that the layout gives it
/// \throws ArgumentError  naming a tile that has elements but no memory
void check_tile(const TileExtent& expected, int rank, std::size_t number, const GivenTile& tile);

/// Whether views are the tiles that a rank holds in a layout, in the order of `Layout::tiles_of`: for memory that plait
/// did not allocate. Each view may lie in either storage order, with any leading dimension.
///
/// \throws as `check_number_of_tiles` and `check_tile`
template <class T>
void check_tiles(const Layout& layout, int rank, std::span<const matrix_view<T>> tiles) {
  const std::vector<TileExtent> expected = layout.tiles_of(rank);
  check_number_of_tiles(expected, rank, tiles.size());
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    check_tile(expected[i], rank, i, {{tiles[i].rows(), tiles[i].columns()}, tiles[i].data() != nullptr});
  }
}

}  // namespace plait::layout
