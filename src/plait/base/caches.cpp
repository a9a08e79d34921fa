#include "plait/base/caches.hpp"

#include <unistd.h>

#include <algorithm>

namespace plait {

Index second_level_cache_bytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  static const Index bytes = std::max(Index{0}, Index{::sysconf(_SC_LEVEL2_CACHE_SIZE)});  // 0 or -1: unknown
  return bytes;
#else
  return 0;
#endif
}

}  // namespace plait
