#pragma once

#include <cstddef>
#include <span>

#include "plait/base/index.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// out[i] ← operands[0][i] op operands[1][i] op …, from the left, 0 <= i < n, with at least one operand. By blocks, so
/// that what is half done stays in the nearest cache; or all at once, where `combine` sums up so.
///
/// \pre  `out` overlaps none of the operands, or is one of the first two
void fold(const Combine& combine, Index n, std::span<const std::byte* const> operands, std::byte* out);

}  // namespace plait::collective
