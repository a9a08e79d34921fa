#pragma once

#include "plait/base/index.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/dense/panels.hpp"

namespace plait::dense {

/// Elements of the tiles that a role computes with. C's is of what its layer computes; after the layers have added
/// theirs up, the columns `Arrangement::final_columns` of it are what the layout of C says.
struct TileElements {
  Index a = 0;
  Index b = 0;
  Index c = 0;
};
[[nodiscard]] TileElements tile_elements(const Arrangement& arrangement, int role);
/// No role has more.
[[nodiscard]] TileElements most_tile_elements(const Arrangement& arrangement);

/// What the busiest role's graph takes of staging memory, in elements: panels, or parts, that are on their way.
[[nodiscard]] Index most_staged_elements(const Arrangement& arrangement, const Cut& cut);

}  // namespace plait::dense
