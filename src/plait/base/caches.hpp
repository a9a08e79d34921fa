#pragma once

#include "plait/base/index.hpp"

namespace plait {

/// The size of a core's second-level cache, the last that it mostly has for itself; 0 where the system doesn't know.
[[nodiscard]] Index second_level_cache_bytes();

}  // namespace plait
