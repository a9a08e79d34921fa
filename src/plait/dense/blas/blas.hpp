#pragma once

#include <limits>
#include <type_traits>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/redistribute/op.hpp"

/// Products of local matrices, by BLAS. Sizes and leading dimensions of any length: where BLAS, which counts with
/// `int`, can't have them, it gets the product in pieces. Nothing here communicates, takes memory (but for `gemmt`, a
/// little) or checks what only a mistake of the library could bring. All throw as `expect_blas_memory` does.
///
/// As in BLAS, `beta == 0` never reads C (y), and `alpha == 0` or an empty sum never reads A and B (x).
namespace plait::dense {

using redistribute::Op;

/// What BLAS counts up to. Tests lower it.
inline constexpr Index most_blas_can_count = std::numeric_limits<int>::max();

/// What comes before the first call of BLAS or LAPACK: some OpenBLAS wait for ever for the memory that they lack.
///
/// \throws OutOfMemory  this process may not have what OpenBLAS takes for itself
void expect_blas_memory();

/// C ← alpha·op(A)·op(B) + beta·C, column-major.
///
/// \pre  op(A) is C.rows() × k, op(B) is k × C.columns(); C overlaps neither; all three are column-major
/// \pre  no op is Op::conjugate, which BLAS does not know, but for real T
template <Field T>
void gemm(Op op_a, Op op_b, std::type_identity_t<T> alpha, std::type_identity_t<matrix_view<const T>> a,
          std::type_identity_t<matrix_view<const T>> b, std::type_identity_t<T> beta, matrix_view<T> c,
          Index most = most_blas_can_count);

enum class Triangle : unsigned char { lower, upper };

/// One triangle of the same, with the diagonal, for products that are known to be symmetric or Hermitian, at half of
/// the cost; the rest of C is not touched. Where B is Aᴴ and beta 0, by ?syrk or ?herk.
///
/// \pre  as for `gemm`; C is square
/// \throws std::bad_alloc
template <Field T>
void gemmt(Triangle triangle, Op op_a, Op op_b, std::type_identity_t<T> alpha,
           std::type_identity_t<matrix_view<const T>> a, std::type_identity_t<matrix_view<const T>> b,
           std::type_identity_t<T> beta, matrix_view<T> c);

/// y ← alpha·op(A)·x + beta·y, for contiguous x and y: A column-major, op as for `gemm`.
template <Field T>
void gemv(Op op_a, std::type_identity_t<T> alpha, std::type_identity_t<matrix_view<const T>> a, const T* x,
          std::type_identity_t<T> beta, T* y, Index most = most_blas_can_count);

/// C ← beta·C, with zeros for `beta == 0` whatever C held.
template <Field T>
void scale(std::type_identity_t<T> beta, matrix_view<T> c);

}  // namespace plait::dense
