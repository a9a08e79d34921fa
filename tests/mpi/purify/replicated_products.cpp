#include "mpi/purify/replicated_products.hpp"

#include <complex>

extern "C" {
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void zgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const std::complex<double>* alpha, const std::complex<double>* a, const int* lda,
            const std::complex<double>* b, const int* ldb, const std::complex<double>* beta, std::complex<double>* c,
            const int* ldc);
}

namespace plait::test {

namespace {

template <class T>
Whole<T> product_of(const Whole<T>& a, const Whole<T>& b) {
  Whole<T> product{a.n};
  const int n = static_cast<int>(a.n);
  const T one = 1;
  const T zero = 0;
  const auto gemm = [] {
    if constexpr (std::is_same_v<T, double>) {
      return dgemm_;
    } else {
      return zgemm_;
    }
  }();
  gemm("N", "N", &n, &n, &n, &one, a.elements.data(), &n, b.elements.data(), &n, &zero, product.elements.data(), &n);
  return product;
}

template <class T>
void keep_own_part(const Whole<T>& whole, purify::Matrix<T>& matrix) {
  matrix.for_each_element([&](Index i, Index j, T& element) { element = whole(i, j); });
}

}  // namespace

template <class T>
void ReplicatedProducts<T>::square(const Matrix& x, Matrix& x2) {
  const Whole<T> whole = gathered(context_, x);
  keep_own_part(product_of(whole, whole), x2);
}

template <class T>
void ReplicatedProducts<T>::square_cube(const Matrix& x, Matrix& x2, Matrix& x3) {
  const Whole<T> whole = gathered(context_, x);
  const Whole<T> squared = product_of(whole, whole);
  keep_own_part(squared, x2);
  keep_own_part(product_of(whole, squared), x3);
}

template <class T>
void ReplicatedProducts<T>::multiply(const Matrix& a, const Matrix& b, Matrix& c) {
  keep_own_part(product_of(gathered(context_, a), gathered(context_, b)), c);
}

template class ReplicatedProducts<double>;
template class ReplicatedProducts<std::complex<double>>;

}  // namespace plait::test
