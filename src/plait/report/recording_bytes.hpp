#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/timeline.hpp"

namespace plait::report {

/// A recording as bytes that travel between equal machines, and back.
[[nodiscard]] std::vector<std::byte> bytes_of(const Recording& recording);
[[nodiscard]] Recording recording_of(std::span<const std::byte> bytes);

}  // namespace plait::report
