#include "plait/dense/blas/blas_routines.hpp"

#include <complex>
#include <cstddef>

// Fortran passes the lengths of character arguments behind all others.
#define PLAIT_BLAS(type, prefix)                                                                                     \
  extern "C" void prefix##gemm_(const char*, const char*, const int* m, const int* n, const int* k, const type*,     \
                                const type* a, const int* lda, const type* b, const int* ldb, const type*, type* c,  \
                                const int* ldc, std::size_t, std::size_t);                                           \
  extern "C" void prefix##gemv_(const char*, const int* m, const int* n, const type*, const type* a, const int* lda, \
                                const type* x, const int* incx, const type*, type* y, const int* incy, std::size_t); \
                                                                                                                     \
  template <>                                                                                                        \
  void plait::dense::BlasRoutines<type>::gemm(char transposition_a, char transposition_b, int m, int n, int k,       \
                                              type alpha, const type* a, int lda, const type* b, int ldb, type beta, \
                                              type* c, int ldc) {                                                    \
    prefix##gemm_(&transposition_a, &transposition_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);   \
  }                                                                                                                  \
  template <>                                                                                                        \
  void plait::dense::BlasRoutines<type>::gemv(char transposition, int m, int n, type alpha, const type* a, int lda,  \
                                              const type* x, int incx, type beta, type* y, int incy) {               \
    prefix##gemv_(&transposition, &m, &n, &alpha, a, &lda, x, &incx, &beta, y, &incy, 1);                            \
  }

PLAIT_BLAS(float, s)
PLAIT_BLAS(double, d)
PLAIT_BLAS(std::complex<float>, c)
PLAIT_BLAS(std::complex<double>, z)
#undef PLAIT_BLAS
