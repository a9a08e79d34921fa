#pragma once

#include <complex>

#include "plait/dense/element.hpp"

namespace plait::dense {

/// BLAS' own routines, whose names differ from type to type. `transposition` is 'N', 'T' or 'C'.
template <Element T>
struct BlasRoutines {
  static void gemm(char transposition_a, char transposition_b, int m, int n, int k, T alpha, const T* a, int lda,
                   const T* b, int ldb, T beta, T* c, int ldc);
  static void gemv(char transposition, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta, T* y,
                   int incy);
};

// The library has no other definition of them than these.
#define PLAIT_BLAS(T)                                                                                 \
  template <>                                                                                         \
  void BlasRoutines<T>::gemm(char, char, int, int, int, T, const T*, int, const T*, int, T, T*, int); \
  template <>                                                                                         \
  void BlasRoutines<T>::gemv(char, int, int, T, const T*, int, const T*, int, T, T*, int);
PLAIT_BLAS(float)
PLAIT_BLAS(double)
PLAIT_BLAS(std::complex<float>)
PLAIT_BLAS(std::complex<double>)
#undef PLAIT_BLAS

}  // namespace plait::dense
