#pragma once

#include <complex>

#include "shim/scalapack/matrix.hpp"

namespace plait::shim::scalapack {

/// The arguments of p?gemm:  C(ic:, jc:) ← alpha·op(A(ia:, ja:))·op(B(ib:, jb:)) + beta·C(ic:, jc:), where op(A) is m x
/// k, op(B) k x n and C m x n.
template <class T>
struct MultiplyCall {
  char trans_a;
  char trans_b;
  int m;
  int n;
  int k;
  T alpha;
  Given<const T> a;
  Given<const T> b;
  T beta;
  Given<T> c;
};

/// Collective over the grid, which A, B and C have in common and whose processes know all arguments, but for the memory
/// that each has. `alpha == 0` or `k == 0` reads neither A nor B and communicates nothing; `beta == 0` does not read C.
///
/// \throws PassOn  on all processes alike, or on one whose leading dimension is too small: the real routine ends the
///                 program then
template <class T>
void multiply(const MultiplyCall<T>& call);

extern template void multiply(const MultiplyCall<float>&);
extern template void multiply(const MultiplyCall<double>&);
extern template void multiply(const MultiplyCall<std::complex<float>>&);
extern template void multiply(const MultiplyCall<std::complex<double>>&);

}  // namespace plait::shim::scalapack
