#pragma once

#include <algorithm>

#include "plait/base/index.hpp"
#include "plait/dense/symm_options.hpp"

namespace plait::dense {

/// Above the eager limit a chain stalls.
inline constexpr Index usual_symm_segment_bytes = 32 * 1024;

/// Elements in one message of plait's own; at least one.
[[nodiscard]] inline Index symm_segment_elements(const SymmOptions& options, Index element_bytes) noexcept {
  return std::max<Index>(1, options.segment_bytes.value_or(usual_symm_segment_bytes) / element_bytes);
}

}  // namespace plait::dense
