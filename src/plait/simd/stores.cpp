#include "plait/simd/stores.hpp"

#include <algorithm>

#include "plait/base/caches.hpp"

namespace plait::simd {

namespace {

constexpr Index least_threshold = Index{2} << 20;

}  // namespace

Index streaming_threshold_bytes() {
  static const Index threshold = std::max(least_threshold, second_level_cache_bytes());
  return threshold;
}

bool streams(Stores stores, Index bytes) {
  return stores == Stores::streaming || (stores == Stores::automatic && bytes >= streaming_threshold_bytes());
}

}  // namespace plait::simd
