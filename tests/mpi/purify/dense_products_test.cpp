#include "plait/purify/dense_products.hpp"

#include <algorithm>
#include <complex>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/spectrum.hpp"

#include "mpi/purify/eigensolver.hpp"
#include "mpi/purify/replicated_products.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using test::distributed;
using test::gathered;
using test::largest_difference;
using test::Whole;

template <class T>
Whole<T> product(const Whole<T>& a, const Whole<T>& b) {
  Whole<T> c{a.n};
  for (Index j = 0; j < a.n; ++j) {
    for (Index k = 0; k < a.n; ++k) {
      for (Index i = 0; i < a.n; ++i) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

template <class T>
void expect_products(mpi::Context& context, Index n, Squares squares) {
  DenseProducts<T> products(context, n, squares);
  const auto a_whole = test::prescribed<T>(test::spectrum_with_gap(std::max(n, Index{3}), 2, 0.3), 1);
  const auto b_whole = test::prescribed<T>(test::spectrum_with_gap(std::max(n, Index{3}), 1, 0.2), 2);
  Whole<T> x{n};
  Whole<T> y{n};
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      x(i, j) = a_whole(i, j);
      y(i, j) = b_whole(i, j) + static_cast<double>(i - 2 * j);
    }
  }
  const auto a = distributed(context, products.layout(), x);
  const auto b = distributed(context, products.layout(), y);
  auto second = allocate<T>(context, products.layout());
  auto third = allocate<T>(context, products.layout());
  const double rounding = 1e-13 * static_cast<double>(n * n * n);
  products.square(a, second);
  EXPECT_LT(largest_difference(gathered(context, second), product(x, x)), rounding) << n;
  products.square_cube(a, second, third);
  EXPECT_LT(largest_difference(gathered(context, second), product(x, x)), rounding) << n;
  EXPECT_LT(largest_difference(gathered(context, third), product(x, product(x, x))), rounding) << n;
  products.multiply(a, b, second);
  EXPECT_LT(largest_difference(gathered(context, second), product(x, y)), rounding) << n;
}

TEST(DenseProducts, AreProducts) {
  mpi::Context context(test::test_comm());
  for (const Squares squares : {Squares::cube, Squares::halves}) {
    for (const Index n : {1, 2, 19}) expect_products<double>(context, n, squares);
    expect_products<std::complex<double>>(context, 13, squares);
  }
}

TEST(DenseProducts, AreOfSymmetricMatricesWhereACubeOfRanksIsMostOfThem) {
  EXPECT_EQ(choose_squares(1), Squares::halves);
  EXPECT_EQ(choose_squares(4), Squares::halves);
  EXPECT_EQ(choose_squares(8), Squares::cube);
  EXPECT_EQ(choose_squares(15), Squares::cube);
  EXPECT_EQ(choose_squares(16), Squares::halves);
  EXPECT_EQ(choose_squares(27), Squares::cube);
}

TEST(DenseProducts, AreRefusedWhereRanksMeanOtherOnes) {
  if (test::ranks() == 1) return;
  mpi::Context context(test::test_comm());
  const bool is_other = test::rank() == 1;
  EXPECT_THROW(DenseProducts<double>(context, is_other ? 8 : 9, Squares::halves), ArgumentError);
  EXPECT_THROW(DenseProducts<double>(context, 9, is_other ? Squares::cube : Squares::halves), ArgumentError);
}

TEST(DenseProducts, PurifyWithTheSameBitsEachTime) {
  mpi::Context context(test::test_comm());
  const auto whole = test::prescribed<double>(test::spectrum_with_gap(45, 20, 0.1));
  const auto expected = test::density_of(test::eigenstates(whole), 20);
  for (const Squares squares : {Squares::cube, Squares::halves}) {
    for (const Method method : {Method::canonical, Method::trs4}) {
      Whole<double> before;
      for (int run = 0; run < 2; ++run) {
        DenseProducts<double> products(context, whole.n, squares);
        const auto h = distributed(context, products.layout(), whole);
        Purification<double> purification(products, h, {method, 20, spectrum_of(context, h, Bounds::lanczos)});
        while (purification.advance()) {
        }
        const auto d = gathered(context, purification.density());
        EXPECT_LT(largest_difference(d, expected), 1e-9);
        if (run > 0) {
          EXPECT_EQ(d.elements, before.elements);
        }
        before = d;
      }
    }
  }
}

}  // namespace
}  // namespace plait::purify
