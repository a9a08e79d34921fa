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

template <class T>
void ReplicatedProducts<T>::multiply(const Matrix& a, const Matrix& b, Matrix& c) {
  const Whole<T> left = gathered(context_, a);
  const Whole<T> right = gathered(context_, b);
  Whole<T> product{left.n};
  const int n = static_cast<int>(left.n);
  const T one = 1;
  const T zero = 0;
  const auto gemm = [] {
    if constexpr (std::is_same_v<T, double>) {
      return dgemm_;
    } else {
      return zgemm_;
    }
  }();
  gemm("N", "N", &n, &n, &n, &one, left.elements.data(), &n, right.elements.data(), &n, &zero, product.elements.data(),
       &n);
  c.for_each_element([&](Index i, Index j, T& element) { element = product(i, j); });
}

template class ReplicatedProducts<double>;
template class ReplicatedProducts<std::complex<double>>;

}  // namespace plait::test
