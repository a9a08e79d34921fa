#pragma once

#include <span>

#include "plait/base/index.hpp"
#include "plait/redistribute/tile.hpp"

namespace plait::redistribute {

/// A source tile and a target tile that have an element of memory in common; -1 and -1 if there are none. Submatrices
/// of one array that lie beside each other, sharing a leading dimension, have none.
struct Overlap {
  Index source = -1;
  Index target = -1;
};
[[nodiscard]] Overlap find_overlap(std::span<const TileMemory> source, std::span<const TileMemory> target,
                                   Index element_bytes);

}  // namespace plait::redistribute
