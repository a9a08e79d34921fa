#pragma once

#include <complex>
#include <optional>

#include "plait/base/complex.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/redistribute/trapezoid.hpp"

#include "shim/scalapack/blacs.hpp"
#include "shim/scalapack/matrix.hpp"

/// What PBLAS's routines have in common: their matrices are all on one grid, whose processes know all arguments.
namespace plait::shim::scalapack {

/// op as PBLAS's TRANS names it: 'N', 'T' or 'C'.
/// \throws PassOn  for another letter
[[nodiscard]] redistribute::Op op_of(char trans);

/// The same on elements of type T: of real numbers, C is T, so that one plan does for both.
template <class T>
[[nodiscard]] constexpr redistribute::Op op_on(redistribute::Op op) noexcept {
  return is_complex<T> || op != redistribute::Op::conjugate_transpose ? op : redistribute::Op::transpose;
}

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

/// The triangle that p?tradd's UPLO names, with the diagonal from the first element on.
/// \throws PassOn  for another letter than 'U' and 'L'
[[nodiscard]] redistribute::Trapezoid triangle_of(char uplo);

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

}  // namespace plait::shim::scalapack
