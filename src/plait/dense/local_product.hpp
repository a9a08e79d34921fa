#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>

#include "plait/base/complex.hpp"
#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/reduce/element.hpp"

namespace plait::dense {

/// A local factor of a product, of elements that nobody looks into.
struct LocalFactor {
  const std::byte* data = nullptr;
  Index stride = 1;  ///< from column to column (row to row), in elements
  StorageOrder order = StorageOrder::column_major;
  bool conjugate = false;  ///< whether it is the conjugate of what lies there

  /// What begins at (row, column).
  [[nodiscard]] LocalFactor from(Index row, Index column, Index element_bytes) const noexcept {
    const Index at = order == StorageOrder::column_major ? row + column * stride : row * stride + column;
    return {data + at * element_bytes, stride, order, conjugate};
  }
};

/// C ← alpha·A·B + beta·C for local matrices: A rows × terms, B terms × columns.
///
/// \pre  a conjugate factor has another order than C: BLAS conjugates only what it transposes
struct LocalProduct {
  Index rows, columns, terms;
  LocalFactor a, b;
  std::byte* c;
  Index c_stride;
  StorageOrder c_order;
  const void* alpha;  // scalars of the elements' type
  const void* beta;   // 0 does not read C; nullptr: 1
};

/// What the builder of a graph has to know of a type of elements.
struct ElementKind {
  simd::Element element;
  Index bytes;
  void (*multiply)(const LocalProduct& product);
  double flops;  // of a multiplication and an addition
};

template <Field T>
[[nodiscard]] ElementKind element_kind();

/// The complex conjugate; of a real number, itself.
template <Field T>
[[nodiscard]] T conjugated(T value) {
  if constexpr (is_complex<T>) value = std::conj(value);
  return value;
}

/// to ← fromᴴ.
/// \pre  both column-major; to is from.columns() × from.rows()
template <Field T>
void mirror(std::type_identity_t<matrix_view<const T>> from, matrix_view<T> to);

}  // namespace plait::dense
