#include "plait/dense/blas/blas.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <complex>
#include <cstddef>

#include "plait/base/complex.hpp"
#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"

// BLAS' own routines, whose names differ from type to type. Transpositions are 'N', 'T' or 'C'; Fortran passes the
// lengths of character arguments behind all others. The factors of syrk and herk, `rank_k`, are real.
#define PLAIT_BLAS(T, Real, prefix, rank_k)                                                                          \
  extern "C" void prefix##gemm_(const char*, const char*, const int* m, const int* n, const int* k, const T*,        \
                                const T* a, const int* lda, const T* b, const int* ldb, const T*, T* c,              \
                                const int* ldc, std::size_t, std::size_t);                                           \
  extern "C" void rank_k(const char*, const char*, const int* n, const int* k, const Real*, const T* a,              \
                         const int* lda, const Real*, T* c, const int* ldc, std::size_t, std::size_t);               \
  extern "C" void prefix##gemv_(const char*, const int* m, const int* n, const T*, const T* a, const int* lda,       \
                                const T* x, const int* incx, const T*, T* y, const int* incy, std::size_t);          \
  namespace plait::dense {                                                                                           \
  namespace {                                                                                                        \
  void blas_gemm(char trans_a, char trans_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, \
                 T beta, T* c, int ldc) {                                                                            \
    prefix##gemm_(&trans_a, &trans_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);                   \
  }                                                                                                                  \
  void blas_rank_k(char triangle, char trans, int n, int k, T alpha, const T* a, int lda, T* c, int ldc) {           \
    const Real factor = std::real(alpha), none = 0;                                                                  \
    rank_k(&triangle, &trans, &n, &k, &factor, a, &lda, &none, c, &ldc, 1, 1);                                       \
  }                                                                                                                  \
  void blas_gemv(char trans, int m, int n, T alpha, const T* a, int lda, const T* x, T beta, T* y) {                 \
    constexpr int one = 1;                                                                                           \
    prefix##gemv_(&trans, &m, &n, &alpha, a, &lda, x, &one, &beta, y, &one, 1);                                      \
  }                                                                                                                  \
  }                                                                                                                  \
  }
PLAIT_BLAS(float, float, s, ssyrk_)
PLAIT_BLAS(double, double, d, dsyrk_)
PLAIT_BLAS(std::complex<float>, float, c, cherk_)
PLAIT_BLAS(std::complex<double>, double, z, zherk_)
#undef PLAIT_BLAS

extern "C" __attribute__((weak)) int openblas_get_num_threads();  // null in other libraries

namespace plait::dense {

namespace {

using redistribute::apply;
using redistribute::conjugates;
using redistribute::transposes;

template <class T>
char letter(Op op) {
  PLAIT_ASSERT(op != Op::conjugate || !is_complex<T>, "BLAS conjugates only what it transposes");
  if (!transposes(op)) return 'N';
  return conjugates(op) ? 'C' : 'T';
}

template <class T>
layout::Shape shape_of(Op op, const matrix_view<T>& matrix) {
  return apply(op, {matrix.rows(), matrix.columns()});
}

/// Rows (columns) [first, first + count) of op(matrix), as a view of the matrix.
template <class T>
matrix_view<T> rows_of(Op op, const matrix_view<T>& matrix, Index first, Index count) {
  return transposes(op) ? matrix.part(0, first, matrix.rows(), count) : matrix.part(first, 0, count, matrix.columns());
}
template <class T>
matrix_view<T> columns_of(Op op, const matrix_view<T>& matrix, Index first, Index count) {
  return transposes(op) ? matrix.part(first, 0, count, matrix.columns()) : matrix.part(0, first, matrix.rows(), count);
}

/// Calls f(first, count) for pieces of at most `longest` of `extent`.
template <class F>
void in_pieces(Index extent, Index longest, F&& f) {
  for (Index first = 0; first < extent; first += longest) f(first, std::min(longest, extent - first));
}

/// What BLAS is told: a column alone has no leading dimension that would matter.
template <class T>
int leading_dimension_of(const matrix_view<T>& matrix) {
  const Index result = matrix.columns() <= 1 ? std::max(Index{1}, matrix.rows()) : matrix.leading_dimension();
  return static_cast<int>(result);
}

template <class T>
bool is_countable(const matrix_view<T>& matrix, Index most) {
  return matrix.columns() <= 1 || matrix.leading_dimension() <= most;
}

/// The sum over at most `longest` of its terms at a time.
template <class T>
void gemm_in_terms(Op op_a, Op op_b, T alpha, const matrix_view<const T>& a, const matrix_view<const T>& b, T beta,
                   const matrix_view<T>& c, Index longest) {
  in_pieces(shape_of(op_a, a).columns, longest, [&](Index first, Index count) {
    const matrix_view<const T> some_a = columns_of(op_a, a, first, count);
    const matrix_view<const T> some_b = rows_of(op_b, b, first, count);
    blas_gemm(letter<T>(op_a), letter<T>(op_b), static_cast<int>(c.rows()), static_cast<int>(c.columns()),
              static_cast<int>(count), alpha, some_a.data(), leading_dimension_of(some_a), some_b.data(),
              leading_dimension_of(some_b), first == 0 ? beta : T{1}, c.data(), leading_dimension_of(c));
  });
}

constexpr Index triangle_block = 128;

template <class T>
void small_triangle(Triangle triangle, Op op_a, Op op_b, T alpha, const matrix_view<const T>& a,
                    const matrix_view<const T>& b, T beta, const matrix_view<T>& c, const Array<T>& scratch) {
  const matrix_view<T> product(scratch.data(), c.rows(), c.columns(), std::max(Index{1}, c.rows()));
  gemm(op_a, op_b, alpha, a, b, T{0}, product);
  for (Index j = 0; j < c.columns(); ++j) {
    const Index begin = triangle == Triangle::lower ? j : 0;
    const Index end = triangle == Triangle::lower ? c.rows() : j + 1;
    for (Index i = begin; i < end; ++i) {
      c(i, j) = beta == T{0} ? product(i, j) : beta * c(i, j) + product(i, j);
    }
  }
}

template <class T>
void halved_triangle(Triangle triangle, Op op_a, Op op_b, T alpha, const matrix_view<const T>& a,
                     const matrix_view<const T>& b, T beta, const matrix_view<T>& c, const Array<T>& scratch) {
  const Index n = c.rows();
  if (n <= triangle_block) {
    small_triangle(triangle, op_a, op_b, alpha, a, b, beta, c, scratch);
    return;
  }
  const Index half = n / 2;
  const Index rest = n - half;
  const matrix_view<const T> upper_a = rows_of(op_a, a, 0, half);
  const matrix_view<const T> lower_a = rows_of(op_a, a, half, rest);
  const matrix_view<const T> left_b = columns_of(op_b, b, 0, half);
  const matrix_view<const T> right_b = columns_of(op_b, b, half, rest);
  if (triangle == Triangle::lower) {
    gemm(op_a, op_b, alpha, lower_a, left_b, beta, c.part(half, 0, rest, half));
  } else {
    gemm(op_a, op_b, alpha, upper_a, right_b, beta, c.part(0, half, half, rest));
  }
  halved_triangle(triangle, op_a, op_b, alpha, upper_a, left_b, beta, c.part(0, 0, half, half), scratch);
  halved_triangle(triangle, op_a, op_b, alpha, lower_a, right_b, beta, c.part(half, half, rest, rest), scratch);
}

/// Whether B is Aᴴ, which stands in the same place, so that the product is the update of rank k of BLAS.
template <class T>
bool is_rank_k(Op op_a, Op op_b, T alpha, const matrix_view<const T>& a, const matrix_view<const T>& b, T beta) {
  const bool is_adjoint = transposes(op_a) ? op_b == Op::identity : op_a == Op::identity && transposes(op_b);
  const bool conjugates_one = !is_complex<T> || conjugates(op_a) != conjugates(op_b);
  const bool is_same = a.data() == b.data() && a.rows() == b.rows() && a.columns() == b.columns() &&
                       a.leading_dimension() == b.leading_dimension();
  return is_adjoint && conjugates_one && is_same && beta == T{0} && std::imag(alpha) == 0;
}

}  // namespace

void expect_blas_memory() {
  // Of its first product; up to version 0.3.21 OpenBLAS asks for it again and again.
  static const bool is_there = [] {
    constexpr std::size_t buffer = std::size_t{129} << 20;
    if (openblas_get_num_threads == nullptr) return true;
    void* const room =
        ::mmap(nullptr, buffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
      throw OutOfMemory("OpenBLAS needs 129 MiB of addresses, more than this process may still have (ulimit -v)");
    }
    ::munmap(room, buffer);
    return true;
  }();
  static_cast<void>(is_there);
}

template <Field T>
void scale(std::type_identity_t<T> beta, matrix_view<T> c) {
  if (beta == T{1} || c.empty()) return;
  for (Index line = 0; line < c.major_extent(); ++line) {
    T* first = c.data() + line * c.leading_dimension();
    if (beta == T{0}) {
      std::fill_n(first, c.minor_extent(), T{0});
    } else {
      std::transform(first, first + c.minor_extent(), first, [beta](T value) { return beta * value; });
    }
  }
}

template <Field T>
void gemm(Op op_a, Op op_b, std::type_identity_t<T> alpha, std::type_identity_t<matrix_view<const T>> a,
          std::type_identity_t<matrix_view<const T>> b, std::type_identity_t<T> beta, matrix_view<T> c, Index most) {
  const Index terms = shape_of(op_a, a).columns;
  PLAIT_ASSERT(
      shape_of(op_a, a).rows == c.rows() && shape_of(op_b, b).columns == c.columns() && shape_of(op_b, b).rows == terms,
      "the factors fit each other and the product");
  PLAIT_ASSERT(a.order() == StorageOrder::column_major && b.order() == StorageOrder::column_major &&
                   c.order() == StorageOrder::column_major,
               "BLAS takes columns");
  if (c.empty()) return;
  if (terms == 0 || alpha == T{0}) {
    scale(beta, c);
    return;
  }

  expect_blas_memory();
  // Where the leading dimension is too long, the columns of the matrix are taken one by one.
  const auto longest = [most](bool is_countable) { return is_countable ? most : Index{1}; };
  const Index rows = longest(is_countable(a, most) || !transposes(op_a));
  const Index columns = longest(is_countable(c, most) && (is_countable(b, most) || transposes(op_b)));
  const Index some_terms =
      longest((is_countable(a, most) || transposes(op_a)) && (is_countable(b, most) || !transposes(op_b)));
  in_pieces(c.columns(), columns, [&](Index column, Index width) {
    const matrix_view<const T> some_b = columns_of(op_b, b, column, width);
    in_pieces(c.rows(), rows, [&](Index row, Index height) {
      gemm_in_terms<T>(op_a, op_b, alpha, rows_of(op_a, a, row, height), some_b, beta,
                       c.part(row, column, height, width), some_terms);
    });
  });
}

template <Field T>
void gemmt(Triangle triangle, Op op_a, Op op_b, std::type_identity_t<T> alpha,
           std::type_identity_t<matrix_view<const T>> a, std::type_identity_t<matrix_view<const T>> b,
           std::type_identity_t<T> beta, matrix_view<T> c) {
  PLAIT_ASSERT(c.rows() == c.columns(), "a triangle is of a square");
  const Index terms = shape_of(op_a, a).columns;
  if (is_rank_k<T>(op_a, op_b, alpha, a, b, beta) && is_countable(a, most_blas_can_count) &&
      is_countable(c, most_blas_can_count) && std::max(c.rows(), terms) <= most_blas_can_count && terms > 0) {
    if (c.empty()) return;
    expect_blas_memory();
    blas_rank_k(triangle == Triangle::lower ? 'L' : 'U', letter<T>(op_a), static_cast<int>(c.rows()),
                static_cast<int>(terms), alpha, a.data(), leading_dimension_of(a), c.data(), leading_dimension_of(c));
    return;
  }
  const Index block = std::min(c.rows(), triangle_block);
  const Array<T> scratch(block * block);
  halved_triangle<T>(triangle, op_a, op_b, alpha, a, b, beta, c, scratch);
}

template <Field T>
void gemv(Op op_a, std::type_identity_t<T> alpha, std::type_identity_t<matrix_view<const T>> a, const T* x,
          std::type_identity_t<T> beta, T* y, Index most) {
  PLAIT_ASSERT(a.order() == StorageOrder::column_major, "BLAS takes columns");
  const auto [length, terms] = shape_of(op_a, a);
  if (length == 0) return;
  scale(beta, matrix_view<T>(y, length, 1, length));  // some libraries multiply what they were to overwrite
  if (terms == 0 || alpha == T{0}) return;
  expect_blas_memory();
  const Index columns = is_countable(a, most) ? most : 1;
  in_pieces(a.columns(), columns, [&](Index column, Index width) {
    in_pieces(a.rows(), most, [&](Index row, Index height) {
      const matrix_view<const T> part = a.part(row, column, height, width);
      blas_gemv(letter<T>(op_a), static_cast<int>(height), static_cast<int>(width), alpha, part.data(),
                leading_dimension_of(part), x + (transposes(op_a) ? row : column), T{1},
                y + (transposes(op_a) ? column : row));
    });
  });
}

#define PLAIT_INSTANTIATE(T)                                                                                  \
  template void gemm<T>(Op, Op, T, matrix_view<const T>, matrix_view<const T>, T, matrix_view<T>, Index);     \
  template void gemmt<T>(Triangle, Op, Op, T, matrix_view<const T>, matrix_view<const T>, T, matrix_view<T>); \
  template void gemv<T>(Op, T, matrix_view<const T>, const T*, T, T*, Index);                                 \
  template void scale<T>(T, matrix_view<T>);

PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<float>)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::dense
