#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// Copying memory as fast as it can be copied: libc's memcpy and plait's streaming copy, of which the better one in a
/// case is its limit. Copy within the very memory that the case uses, so that its kind and its pages are the same. All
/// threads that OpenMP has when it runs share the work.
///
/// \pre  source and target do not overlap and outlive the contenders
[[nodiscard]] std::vector<Contender> memcpy_limits(std::byte* target, const std::byte* source, Index bytes);

/// The limit of what adds to an old value, target ← source + beta·target: a plain loop, which reads what it writes and
/// so moves half as much again as a copy that streams. By all threads, as above.
///
/// \pre  target.size() == source.size(); they do not overlap and outlive the contender
[[nodiscard]] Contender update_limit(std::span<double> target, std::span<const double> source, double beta);

}  // namespace plait::bench
