#pragma once

#include <cstddef>

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/stores.hpp"

namespace plait::simd {

/// What is done to the elements of a transposed matrix before they leave the first-level cache: `apply` changes `count`
/// elements in place. It gets every element of the target at least once, each time as the transposition has made it.
struct ElementTransform {
  void (*apply)(const void* context, std::byte* elements, Index count);
  const void* context;
};

/// `transpose`, then `transform`, if there is one, in a single pass where it streams.
void transpose_transformed(Index rows, Index columns, const std::byte* source, Index source_ld, std::byte* target,
                           Index target_ld, Index element_bytes, Isa isa, Stores stores,
                           const ElementTransform* transform);

}  // namespace plait::simd
