#include "plait/sinkhorn/row_blocks.hpp"

#include <algorithm>

namespace plait::sinkhorn {

RowBlocks row_blocks(Index columns, Index element_bytes, Index cache_bytes) {
  constexpr Index usual_cache_bytes = Index{512} << 10;
  const Index cache = cache_bytes > 0 ? cache_bytes : usual_cache_bytes;
  const Index row_bytes = std::max(Index{1}, columns) * element_bytes;
  for (const Index rows : {8, 4, 2}) {
    if ((2 * rows + 2) * row_bytes <= cache) return {rows, true};
  }
  return {4, false};
}

}  // namespace plait::sinkhorn
