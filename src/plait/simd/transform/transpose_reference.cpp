#include "plait/simd/transform/transpose_reference.hpp"

#include <cstring>

namespace plait::simd {

void transpose_reference(Index rows, Index columns, const std::byte* source, Index source_ld, std::byte* target,
                         Index target_ld, Index element_bytes) {
  for (Index c = 0; c < columns; ++c) {
    for (Index r = 0; r < rows; ++r) {
      std::memcpy(target + (c + r * target_ld) * element_bytes, source + (r + c * source_ld) * element_bytes,
                  static_cast<std::size_t>(element_bytes));
    }
  }
}

}  // namespace plait::simd
