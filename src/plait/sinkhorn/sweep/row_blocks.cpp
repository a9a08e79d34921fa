#include "plait/sinkhorn/sweep/row_blocks.hpp"

#include "plait/base/caches.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"

namespace plait::sinkhorn {

Index rows_at_a_time(Index columns, Index element_bytes) {
  constexpr Index usual_cache_bytes = Index{512} << 10;
  constexpr Index most_caches = 4;
  const Index cache = second_level_cache_bytes() > 0 ? second_level_cache_bytes() : usual_cache_bytes;
  const bool are_long = simd::most_rows_at_a_time * columns * element_bytes > most_caches * cache;
  return are_long ? simd::most_rows_at_a_time / 2 : simd::most_rows_at_a_time;
}

}  // namespace plait::sinkhorn
