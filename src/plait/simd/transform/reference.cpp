#include "plait/simd/transform/reference.hpp"

#include <cstring>

#include "plait/simd/transform/scale_element.hpp"

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

template <Number T>
void scale_add_reference(Index n, T alpha, const T* source, bool conjugate, T beta, T* target) {
  const Scaling<T> scaling(alpha, conjugate, beta);
  for (Index i = 0; i < n; ++i) {
    const T* from = scaling.by_alpha == Factor::zero ? nullptr : source + i;
    target[i] = scale_added_element(scaling, from, target + i);
  }
}

template <Number T>
void transpose_scale_add_reference(Index rows, Index columns, T alpha, const T* source, Index source_ld, bool conjugate,
                                   T beta, T* target, Index target_ld) {
  const Scaling<T> scaling(alpha, conjugate, beta);
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; ++c) {
      const T* from = scaling.by_alpha == Factor::zero ? nullptr : source + r + c * source_ld;
      T* to = target + c + r * target_ld;
      *to = scale_added_element(scaling, from, to);
    }
  }
}

#define PLAIT_INSTANTIATE(T)                                        \
  template decltype(scale_add_reference<T>) scale_add_reference<T>; \
  template decltype(transpose_scale_add_reference<T>) transpose_scale_add_reference<T>;
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

}  // namespace plait::simd
