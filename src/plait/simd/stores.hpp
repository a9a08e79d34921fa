#pragma once

#include "plait/base/index.hpp"

namespace plait::simd {

/// How a kernel writes its result.
///
/// `streaming` stores go past the caches: nothing of the target is read before it is overwritten and nothing else is
/// evicted, but whoever reads the result fetches it from memory. They are right where the target is part of something
/// larger than the caches, also if a single call writes little of it. `cached` stores are right for what is used again
/// soon. `automatic` streams from `streaming_threshold_bytes()` on.
///
/// Streaming stores are complete, in the order of the program, when a kernel returns.
enum class Stores : unsigned char { automatic, cached, streaming };

/// The size of a target from which streaming stores pay: the second-level cache, the last that a core has for itself,
/// and 2 MiB at least. Ranks share the caches beyond it with all of their node.
[[nodiscard]] Index streaming_threshold_bytes();

/// Whether a target of `bytes` is to be streamed to.
[[nodiscard]] bool streams(Stores stores, Index bytes);

}  // namespace plait::simd
