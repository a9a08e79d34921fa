#pragma once

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

}  // namespace plait::dense
