#include <complex>
#include <limits>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/dense/check.hpp"
#include "plait/dense/multiplication.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using dense::Multiplication;
using dense::ProductCheck;
using dense::Residual;
using layout::DistributedMatrix;
using layout::Layout;
using redistribute::Op;

template <class T>
DistributedMatrix<T> random_numbers(const Layout& layout, std::uint64_t seed) {
  DistributedMatrix<T> matrix(layout, rank());
  matrix.for_each_element([&](Index i, Index j, T& element) {
    element = T(static_cast<float>(random_uniform(seed, static_cast<std::uint64_t>(1000 * i + j))));
  });
  return matrix;
}

/// The verdict on a product after `change` was made to it.
template <class T, class F>
Residual::Verdict verdict(F&& change) {
  mpi::Context context(test_comm());
  const Layout c_layout = Layout::blocks({40, 40}, 1, ranks());
  const auto a = random_numbers<T>(Layout::rows({50, 40}, ranks()), 1);
  const auto b = random_numbers<T>(Layout::columns({40, 50}, ranks()), 2);
  auto c = random_numbers<T>(c_layout, 3);
  ProductCheck<T> check(context, Op::conjugate_transpose, Op::transpose, T(2), T(-3));
  check.read_factors(a, b);
  check.read_before(c);
  Multiplication<T> product(context, {a.layout(), b.layout(), Op::conjugate_transpose, Op::transpose}, c_layout);
  product.execute(T(2), a, b, T(-3), c);
  c.for_each_element([&](Index i, Index j, T& element) { change(i, j, element); });
  return check.residual(c).verdict;
}

template <class T>
struct ProductChecks : ::testing::Test {};
using Elements = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ProductChecks, Elements);

TYPED_TEST(ProductChecks, PassProductsAndFailChangedOnes) {
  using T = TypeParam;
  EXPECT_EQ(verdict<T>([](Index, Index, T&) {}), Residual::Verdict::passed);
  EXPECT_EQ(verdict<T>([](Index i, Index j, T& element) {
              if (i == 17 && j == 39) element *= T(1.25F);
            }),
            Residual::Verdict::failed);
  EXPECT_EQ(verdict<T>([](Index, Index j, T& element) {
              if (j == 0) element = T(0);
            }),
            Residual::Verdict::failed);
  EXPECT_EQ(verdict<T>([](Index i, Index, T& element) {
              if (i == 0) element = T(std::numeric_limits<float>::quiet_NaN());
            }),
            Residual::Verdict::undecided);
}

/// The verdict on alpha·A·B, where the elements of A are `scale` at most, after `change` was made to it.
template <class T, class F>
Residual::Verdict verdict_on_scaled(double scale, double alpha, F&& change) {
  mpi::Context context(test_comm());
  const Layout layout = Layout::blocks({30, 30}, 1, ranks());
  auto a = random_numbers<T>(layout, 4);
  a.for_each_element([&](Index, Index, T& element) { element *= scale; });
  const auto b = random_numbers<T>(layout, 5);
  auto c = DistributedMatrix<T>(layout, rank());
  ProductCheck<T> check(context, Op::identity, Op::identity, T(alpha), T(0));
  check.read_factors(a, b);
  Multiplication<T> product(context, {layout, layout}, layout);
  product.execute(T(alpha), a, b, T(0), c);
  c.for_each_element([&](Index i, Index j, T& element) { change(i, j, element); });
  return check.residual(c).verdict;
}

template <class T>
void expect_verdicts_on_scaled(double scale, double alpha) {
  EXPECT_EQ(verdict_on_scaled<T>(scale, alpha, [](Index, Index, T&) {}), Residual::Verdict::passed) << scale;
  EXPECT_EQ(verdict_on_scaled<T>(scale, alpha,
                                 [](Index i, Index j, T& element) {
                                   if (i == 17 && j == 29) element *= 1.25;
                                 }),
            Residual::Verdict::failed)
      << scale;
}

TEST(ProductCheck, TellRightFromWrongWhereSquaresAreTooSmallOrTooLargeForTheElementsType) {
  for (const double scale : {1e-250, 1e-170, 1e170, 1e250}) {
    expect_verdicts_on_scaled<double>(scale, 1);
    expect_verdicts_on_scaled<double>(scale, 1 / scale);
    expect_verdicts_on_scaled<std::complex<double>>(scale, 1);
  }
}

TEST(ProductChecksOfLongVectors, CountTheirMemory) {
  EXPECT_EQ(ProductCheck<double>::memory_bytes({.rows = 10, .columns = 5, .terms = 7}), 8 * (3 * 10 + 5 + 7));
  EXPECT_EQ(ProductCheck<std::complex<float>>::memory_bytes({.rows = 10, .columns = 0, .terms = 0}), 16 * 3 * 10);
  EXPECT_GT(ProductCheck<double>::memory_bytes({.rows = Index{1} << 61, .columns = 0, .terms = Index{1} << 61}),
            Index{1} << 50);
}

TEST(ProductChecksOfLongVectors, ThrowWhereThereIsNoMemoryForThem) {
  mpi::Context context(test_comm());
  const DistributedMatrix<double> a(Layout::rows({3, 0}, ranks()), rank());
  const DistributedMatrix<double> b(Layout::columns({0, Index{1} << 50}, ranks()), rank());
  ProductCheck<double> check(context, Op::identity, Op::identity, 1, 0);
  EXPECT_THROW(check.read_factors(a, b), OutOfMemory);
}

}  // namespace
}  // namespace plait::test
