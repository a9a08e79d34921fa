#include "plait/dense/blas/blas.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/dense/blas/blas_kernels.hpp"

#include "tests/unit/dense/naive_product.hpp"

namespace plait::test {
namespace {

using dense::Op;
using dense::Triangle;

/// A matrix with a gap below each of its columns, in which a sentinel lies.
template <class T>
struct Gapped {
  Gapped(std::uint64_t seed, Index rows, Index columns)
      : memory(static_cast<std::size_t>((rows + 2) * columns + 1), sentinel()),
        view(memory.data(), rows, columns, rows + 2) {
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) view(i, j) = small_number<T>(seed, i, j);
    }
  }
  static T sentinel() { return T{-77}; }
  [[nodiscard]] bool gaps_are_untouched() const {
    for (Index j = 0; j < view.columns(); ++j) {
      for (Index i = view.rows(); i < view.rows() + 2; ++i) {
        if (memory[static_cast<std::size_t>(i + j * view.leading_dimension())] != sentinel()) return false;
      }
    }
    return true;
  }
  std::vector<T> memory;
  matrix_view<T> view;
};

template <class T>
Gapped<T> stored(Op op, std::uint64_t seed, Index rows, Index columns) {
  return redistribute::transposes(op) ? Gapped<T>(seed, columns, rows) : Gapped<T>(seed, rows, columns);
}

template <class T>
class Blas : public testing::Test {};
using Elements = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Blas, Elements);

constexpr std::array<Op, 3> ops{Op::identity, Op::transpose, Op::conjugate_transpose};

template <class T>
void expect_product(Index rows, Index columns, Index terms, T alpha, T beta, Index most) {
  for (const Op op_a : ops) {
    for (const Op op_b : ops) {
      const auto a = stored<T>(op_a, 1, rows, terms);
      const auto b = stored<T>(op_b, 2, terms, columns);
      Gapped<T> c(3, rows, columns);
      Gapped<T> expected(3, rows, columns);
      naive_gemm<T>(op_a, op_b, alpha, a.view, b.view, beta, expected.view);
      dense::gemm(op_a, op_b, alpha, a.view, b.view, beta, c.view, most);
      EXPECT_EQ(c.memory, expected.memory) << rows << " x " << columns << ", " << terms << " terms, " << to_string(op_a)
                                           << ", " << to_string(op_b) << ", pieces of " << most;
    }
  }
}

TYPED_TEST(Blas, GemmIsTheProductForAllOpsAndShapes) {
  using T = TypeParam;
  for (const auto& [rows, columns, terms] : {std::array<Index, 3>{1, 1, 1}, {5, 3, 7}, {17, 33, 2}, {40, 1, 9}}) {
    expect_product<T>(rows, columns, terms, T{1}, T{0}, dense::most_blas_can_count);
    expect_product<T>(rows, columns, terms, T{-2}, T{3}, dense::most_blas_can_count);
  }
}

TYPED_TEST(Blas, GemmInPiecesIsTheSameProduct) {
  using T = TypeParam;
  for (const Index most : {3, 8, 11}) expect_product<T>(9, 7, 8, T{2}, T{-1}, most);
}

TYPED_TEST(Blas, EmptySumsScaleAndBetaOfZeroDoesNotReadC) {
  using T = TypeParam;
  const T nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<T> c(6, nan);
  const matrix_view<T> view(c.data(), 2, 3, 2);
  const matrix_view<const T> none(nullptr, 2, 0, 2);
  dense::gemm(Op::identity, Op::transpose, T{1}, none, matrix_view<const T>(nullptr, 3, 0, 3), T{0}, view);
  EXPECT_EQ(c, std::vector<T>(6, T{0}));

  std::fill(c.begin(), c.end(), nan);
  const std::vector<T> ones(6, T{1});
  const matrix_view<const T> a(ones.data(), 2, 2, 2);
  const matrix_view<const T> b(ones.data(), 2, 3, 2);
  dense::gemm(Op::identity, Op::identity, T{1}, a, b, T{0}, view);
  EXPECT_EQ(c, std::vector<T>(6, T{2}));

  const std::vector<T> unread(6, nan);
  dense::gemm(Op::identity, Op::identity, T{0}, matrix_view<const T>(unread.data(), 2, 2, 2),
              matrix_view<const T>(unread.data(), 2, 3, 2), T{2}, view);
  EXPECT_EQ(c, std::vector<T>(6, T{4}));

  std::fill(c.begin(), c.end(), nan);
  dense::gemv(Op::identity, T{1}, a, ones.data(), T{0}, c.data());
  EXPECT_EQ(c[0], T{2});
  EXPECT_EQ(c[1], T{2});
}

TYPED_TEST(Blas, GemvIsTheProductAlsoInPieces) {
  using T = TypeParam;
  for (const Op op : ops) {
    for (const Index most : {Index{3}, Index{10}, dense::most_blas_can_count}) {
      const auto a = stored<T>(op, 4, 9, 5);
      const Gapped<T> x(5, 5, 1);
      Gapped<T> y(6, 9, 1);
      Gapped<T> expected(6, 9, 1);
      naive_gemm<T>(op, Op::identity, T{2}, a.view, x.view, T{3}, expected.view);
      dense::gemv(op, T{2}, a.view, x.view.data(), T{3}, y.view.data(), most);
      EXPECT_EQ(y.memory, expected.memory) << to_string(op) << ", pieces of " << most;
    }
  }
}

/// \param beta  0: with the adjoint, the update of rank k of BLAS
template <class T>
void expect_triangles(Op left, Op right, T beta) {
  for (const Index n : {1, 5, 128, 150, 300}) {
    const Gapped<T> a(7, left == Op::identity ? n : 3, left == Op::identity ? 3 : n);
    Gapped<T> full(8, n, n);
    naive_gemm<T>(left, right, T{2}, a.view, a.view, beta, full.view);
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const Gapped<T> before(8, n, n);
      Gapped<T> c(8, n, n);
      dense::gemmt(triangle, left, right, T{2}, a.view, a.view, beta, c.view);
      Index wrong = 0;
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          const bool inside = triangle == Triangle::lower ? i >= j : i <= j;
          wrong += c.view(i, j) != (inside ? full.view(i, j) : before.view(i, j)) ? 1 : 0;
        }
      }
      EXPECT_EQ(wrong, 0) << n;
      EXPECT_TRUE(c.gaps_are_untouched());
    }
  }
}

TYPED_TEST(Blas, GemmtMakesOneTriangleAndLeavesTheOther) {
  using T = TypeParam;
  for (const Op op : {Op::transpose, Op::conjugate_transpose}) {
    for (const T beta : {T{-1}, T{0}}) {
      expect_triangles<T>(Op::identity, op, beta);
      expect_triangles<T>(op, Op::identity, beta);
    }
  }
}

/// What a product says in a process that may have so many more bytes of addresses. Does not return.
[[noreturn]] void multiply_within(std::size_t more_bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + more_bytes;
  const struct rlimit limit{most, most};
  std::vector<double> numbers(200 * 200, 1);
  const matrix_view<double> a(numbers.data(), 200, 200, 200);
  std::vector<double> product(200 * 200);
  ::setrlimit(RLIMIT_AS, &limit);
  try {
    dense::gemm<double>(Op::identity, Op::identity, 1.0, a, a, 0.0, {product.data(), 200, 200, 200});
  } catch (const OutOfMemory& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(1);
  }
  std::exit(product[0] == 200 ? 0 : 2);
}

TEST(BlasMemory, IsMissedByAnError) {
  if (dense::blas_kernels().empty()) GTEST_SKIP() << "other libraries than OpenBLAS";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process that has not multiplied yet
  EXPECT_EXIT(multiply_within(std::size_t{64} << 20), testing::ExitedWithCode(1), "OpenBLAS needs 129 MiB");
  EXPECT_EXIT(multiply_within(std::size_t{512} << 20), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace plait::test
