#pragma once

#include <cstddef>
#include <span>

namespace plait::bench {

/// Writes back what the caches hold of `memory` and drops it from all of them. Does nothing on processors whose
/// instruction for it is not known here, which leaves the caches warm.
void flush_from_caches(std::span<const std::byte> memory);

/// The opposite: reads a byte of each line, which leaves in the caches as much as they hold.
void fetch_into_caches(std::span<const std::byte> memory);

}  // namespace plait::bench
