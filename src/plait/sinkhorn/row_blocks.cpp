#include "plait/sinkhorn/row_blocks.hpp"

#include <algorithm>

namespace plait::sinkhorn {

RowBlocks row_blocks(Index columns, Index element_bytes, Index cache_bytes) {
  constexpr Index usual_cache_bytes = Index{512} << 10;
  const Index cache = cache_bytes > 0 ? cache_bytes : usual_cache_bytes;
  const Index row_bytes = std::max(Index{1}, columns) * element_bytes;
  constexpr Index rows = 8;
  if ((2 * rows + 2) * row_bytes > cache) return {4, FetchAhead::none};
  constexpr Index long_row_bytes = Index{24} << 10;
  const bool is_long = element_bytes < Index{sizeof(double)} && row_bytes >= long_row_bytes;
  return {rows, is_long ? FetchAhead::throughout : FetchAhead::late};
}

}  // namespace plait::sinkhorn
