#pragma once

#include "plait/collective/stream.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

/// \throws ArgumentError  `combine` takes elements of another size than the stream's, or all operands at once
void expect_pairwise(const Stream& stream, const schedule::Combine& combine);

/// How many blocks of staging memory a builder takes for what it receives, if there is so much of it: as many as an
/// executor's window has receives, so that all of these can be posted.
inline constexpr Index staged_segments = 16;

/// The most segments that set out within `stages` stages of each other.
[[nodiscard]] Index most_within(const Stream& stream, Index stages);

/// How many blocks a builder takes that holds one for each segment from a stage to the next one, and so on for `stages`
/// stages: at least one for each segment that is under way at a time, and one for what just comes.
[[nodiscard]] Index staged_blocks(const Stream& stream, Index stages);

}  // namespace plait::collective
