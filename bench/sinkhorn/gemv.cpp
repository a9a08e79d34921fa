#include "bench/sinkhorn/gemv.hpp"

// Of the Fortran BLAS, with the C names that every library has.
extern "C" {
void dgemv_(const char* op, const int* m, const int* n, const double* alpha, const double* a, const int* lda,
            const double* x, const int* incx, const double* beta, double* y, const int* incy);
void sgemv_(const char* op, const int* m, const int* n, const float* alpha, const float* a, const int* lda,
            const float* x, const int* incx, const float* beta, float* y, const int* incy);
}

namespace plait::bench {

namespace {

void gemv(char op, int m, int n, const double* a, int lda, const double* x, double* y) {
  const double one = 1;
  const double zero = 0;
  const int step = 1;
  dgemv_(&op, &m, &n, &one, a, &lda, x, &step, &zero, y, &step);
}
void gemv(char op, int m, int n, const float* a, int lda, const float* x, float* y) {
  const float one = 1;
  const float zero = 0;
  const int step = 1;
  sgemv_(&op, &m, &n, &one, a, &lda, x, &step, &zero, y, &step);
}

}  // namespace

template <class T>
Contender two_gemv(matrix_view<const T> k, T* u, T* v) {
  // By columns, as the BLAS sees it, the matrix is its transpose.
  const auto rows = static_cast<int>(k.rows());
  const auto columns = static_cast<int>(k.columns());
  const auto lda = static_cast<int>(k.leading_dimension());
  return Contender{"two gemv", [=, data = k.data()] {
                     gemv('T', columns, rows, data, lda, v, u);
                     for (int i = 0; i < rows; ++i) u[i] = T{1} / u[i];
                     gemv('N', columns, rows, data, lda, u, v);
                     for (int j = 0; j < columns; ++j) v[j] = T{1} / v[j];
                   }};
}

template Contender two_gemv(matrix_view<const double>, double*, double*);
template Contender two_gemv(matrix_view<const float>, float*, float*);

}  // namespace plait::bench
