#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// Reading memory once, as fast as a core can, which is what bounds everything that needs all of a matrix: words are
/// combined by exclusive or in vectors, so that nothing waits for anything else.
///
/// \pre  memory outlives the contender
[[nodiscard]] Contender streaming_read(std::span<const std::byte> memory);

/// It, the same with what is ahead being fetched, and four parts side by side: the fastest of them is a limit.
[[nodiscard]] std::vector<Contender> streaming_reads(std::span<const std::byte> memory);

}  // namespace plait::bench
