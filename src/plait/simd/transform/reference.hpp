#pragma once

#include <cstddef>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"

namespace plait::simd {

/// What `transpose` does, element by element: target(c, r) = source(r, c).
void transpose_reference(Index rows, Index columns, const std::byte* source, Index source_ld, std::byte* target,
                         Index target_ld, Index element_bytes);

/// What `scale_add` does, element by element.
template <Number T>
void scale_add_reference(Index n, T alpha, const T* source, bool conjugate, T beta, T* target);

/// What `transpose_scale_add` does, element by element.
template <Number T>
void transpose_scale_add_reference(Index rows, Index columns, T alpha, const T* source, Index source_ld, bool conjugate,
                                   T beta, T* target, Index target_ld);

}  // namespace plait::simd
