#pragma once

#include <cstddef>

#include "plait/base/index.hpp"

namespace plait::simd {

/// What `transpose` does, element by element: target(c, r) = source(r, c).
void transpose_reference(Index rows, Index columns, const std::byte* source, Index source_ld, std::byte* target,
                         Index target_ld, Index element_bytes);

}  // namespace plait::simd
