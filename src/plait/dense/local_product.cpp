#include "plait/dense/local_product.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "plait/base/complex.hpp"
#include "plait/base/contract.hpp"
#include "plait/dense/blas/blas.hpp"
#include "plait/simd/reduce/element_of.hpp"
#include "plait/simd/transform/transpose.hpp"

namespace plait::dense {

namespace {

template <class T>
struct ProductFactor {
  Op op;
  matrix_view<const T> matrix;  // by columns; op of it is the factor
};

template <class T>
ProductFactor<T> as_blas_has_it(const LocalFactor& factor, Index rows, Index columns) {
  const bool by_columns = factor.order == StorageOrder::column_major;
  const Index stride = std::max({Index{1}, factor.stride, by_columns ? rows : columns});
  const auto* const data = reinterpret_cast<const T*>(factor.data);
  if (by_columns) {
    PLAIT_ASSERT(!factor.conjugate || !is_complex<T>, "BLAS conjugates only what it transposes");
    return {Op::identity, matrix_view<const T>(data, rows, columns, stride)};
  }
  return {factor.conjugate ? Op::conjugate_transpose : Op::transpose,
          matrix_view<const T>(data, columns, rows, stride)};
}

LocalFactor transposed(LocalFactor factor) {
  factor.order = flipped(factor.order);
  return factor;
}

template <class T>
void multiply(const LocalProduct& product) {
  if (product.c_order == StorageOrder::row_major) {  // Cᵀ = Bᵀ·Aᵀ is by columns
    LocalProduct other = product;
    std::swap(other.rows, other.columns);
    other.a = transposed(product.b);
    other.b = transposed(product.a);
    other.c_order = StorageOrder::column_major;
    return multiply<T>(other);
  }
  const ProductFactor<T> a = as_blas_has_it<T>(product.a, product.rows, product.terms);
  const ProductFactor<T> b = as_blas_has_it<T>(product.b, product.terms, product.columns);
  const matrix_view<T> c(reinterpret_cast<T*>(product.c), product.rows, product.columns,
                         std::max({Index{1}, product.c_stride, product.rows}));
  const T beta = product.beta == nullptr ? T{1} : *static_cast<const T*>(product.beta);
  gemm(a.op, b.op, *static_cast<const T*>(product.alpha), a.matrix, b.matrix, beta, c);
}

}  // namespace

template <Field T>
ElementKind element_kind() {
  return {simd::element_of<T>(), Index{sizeof(T)}, multiply<T>, is_complex<T> ? 8.0 : 2.0};
}

template <Field T>
void mirror(std::type_identity_t<matrix_view<const T>> from, matrix_view<T> to) {
  simd::transpose(from.rows(), from.columns(), reinterpret_cast<const std::byte*>(from.data()),
                  from.leading_dimension(), reinterpret_cast<std::byte*>(to.data()), to.leading_dimension(),
                  Index{sizeof(T)});
  if constexpr (is_complex<T>) {
    for (Index column = 0; column < to.columns(); ++column) {
      for (Index row = 0; row < to.rows(); ++row) to(row, column) = std::conj(to(row, column));
    }
  }
}

#define PLAIT_INSTANTIATE(T)              \
  template ElementKind element_kind<T>(); \
  template void mirror(matrix_view<const T>, matrix_view<T>);
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<float>)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::dense
