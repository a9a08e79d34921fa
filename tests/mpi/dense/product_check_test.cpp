#include <complex>
#include <limits>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace plait::test
