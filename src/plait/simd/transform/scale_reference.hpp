#pragma once

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"

namespace plait::simd {

/// What `scale_add` does, element by element.
template <Number T>
void scale_add_reference(Index n, T alpha, const T* source, bool conjugate, T beta, T* target);

/// What `transpose_scale_add` does, element by element.
template <Number T>
void transpose_scale_add_reference(Index rows, Index columns, T alpha, const T* source, Index source_ld, bool conjugate,
                                   T beta, T* target, Index target_ld);

}  // namespace plait::simd
