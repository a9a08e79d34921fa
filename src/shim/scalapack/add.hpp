#pragma once

#include <complex>
#include <optional>

#include "plait/redistribute/op.hpp"
#include "plait/redistribute/trapezoid.hpp"

#include "shim/scalapack/matrix.hpp"

namespace plait::shim::scalapack {

/// The arguments of p?tran, p?geadd and p?tradd:  C(ic:, jc:) ← alpha·op(A(ia:, ja:)) + beta·C(ic:, jc:), where C(ic:,
/// jc:) has m x n elements, or a trapezoid of them.
template <class T>
struct AddCall {
  int m;
  int n;
  T alpha;
  Given<const T> a;
  T beta;
  Given<T> c;
  std::optional<redistribute::Trapezoid> part = std::nullopt;
};

/// Collective over the grid, which A and C have in common. All of its processes know all arguments, so once the plan is
/// there only data is communicated. `alpha == 0` does not read A and communicates nothing; `beta == 0` does not read C.
///
/// \throws PassOn  on all processes alike, or on one whose leading dimension is too small: the real routine ends the
///                 program then
template <class T>
void add(const AddCall<T>& call, redistribute::Op op);

extern template void add(const AddCall<float>&, redistribute::Op);
extern template void add(const AddCall<double>&, redistribute::Op);
extern template void add(const AddCall<std::complex<float>>&, redistribute::Op);
extern template void add(const AddCall<std::complex<double>>&, redistribute::Op);

/// The triangle that p?tradd's UPLO names, with the diagonal from the first element on.
/// \throws PassOn  for another letter than 'U' and 'L'
[[nodiscard]] redistribute::Trapezoid triangle_of(char uplo);

}  // namespace plait::shim::scalapack
