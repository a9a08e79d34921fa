#include "plait/dense/local_product.hpp"

#include <algorithm>
#include <complex>

#include "plait/dense/blas.hpp"
#include "plait/simd/element_of.hpp"

namespace plait::dense {

namespace {

template <class T>
void multiply(const LocalProduct& product) {
  const auto stride = [](Index given, Index least) { return std::max({Index{1}, given, least}); };
  const matrix_view<const T> a(reinterpret_cast<const T*>(product.a), product.rows, product.terms,
                               stride(product.a_stride, product.rows));
  const matrix_view<const T> b(reinterpret_cast<const T*>(product.b), product.columns, product.terms,
                               stride(product.b_stride, product.columns));  // its rows are columns of the transpose
  const matrix_view<T> c(reinterpret_cast<T*>(product.c), product.rows, product.columns,
                         stride(product.c_stride, product.rows));
  gemm(Op::identity, Op::transpose, T{1}, a, b, product.adds ? T{1} : T{0}, c);
}

}  // namespace

template <Element T>
ElementKind element_kind() {
  return {simd::element_of<T>(), Index{sizeof(T)}, multiply<T>, is_complex<T> ? 8.0 : 2.0};
}

template ElementKind element_kind<float>();
template ElementKind element_kind<double>();
template ElementKind element_kind<std::complex<float>>();
template ElementKind element_kind<std::complex<double>>();

}  // namespace plait::dense
