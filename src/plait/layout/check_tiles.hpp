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

/// \throws ShapeMismatch  naming how many tiles there are and should be, or the tile, the shape that it has and the one
///                        that the layout gives it
/// \throws ArgumentError  naming a tile that has elements but no memory
void check_given_tiles(const Layout& layout, int rank, std::span<const GivenTile> tiles);

/// Whether views are the tiles that a rank holds in a layout, in the order of `Layout::tiles_of`: for memory that plait
/// did not allocate. Each view may lie in either storage order, with any leading dimension.
///
/// \throws as `check_given_tiles`
template <class T>
void check_tiles(const Layout& layout, int rank, std::span<const matrix_view<T>> tiles) {
  std::vector<GivenTile> given;
  given.reserve(tiles.size());
  for (const matrix_view<T>& tile : tiles) given.push_back({{tile.rows(), tile.columns()}, tile.data() != nullptr});
  check_given_tiles(layout, rank, given);
}

}  // namespace plait::layout
