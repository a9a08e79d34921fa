#include "plait/simd/stores.hpp"

#include <unistd.h>

#include <algorithm>

namespace plait::simd {

namespace {

constexpr Index least_threshold = Index{2} << 20;

Index second_level_cache_bytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  return std::max(Index{0}, Index{::sysconf(_SC_LEVEL2_CACHE_SIZE)});  // 0 or -1 where the system doesn't know
#else
  return 0;
#endif
}

}  // namespace

Index streaming_threshold_bytes() {
  static const Index threshold = std::max(least_threshold, second_level_cache_bytes());
  return threshold;
}

bool streams(Stores stores, Index bytes) {
  return stores == Stores::streaming || (stores == Stores::automatic && bytes >= streaming_threshold_bytes());
}

}  // namespace plait::simd
