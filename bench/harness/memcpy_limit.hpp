#pragma once

#include <cstddef>
#include <vector>

#include "plait/base/index.hpp"

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// Copying memory as fast as it can be copied: libc's memcpy and plait's streaming copy, of which the better one in a
/// case is its limit. Copy within the very memory that the case uses, so that its kind and its pages are the same.
///
/// \pre  source and target do not overlap and outlive the contenders
[[nodiscard]] std::vector<Contender> memcpy_limits(std::byte* target, const std::byte* source, Index bytes);

}  // namespace plait::bench
