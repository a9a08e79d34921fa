#include <algorithm>
#include <cmath>
#include <complex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/orthogonal.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/spectrum.hpp"

#include "mpi/purify/eigensolver.hpp"
#include "mpi/purify/replicated_products.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using layout::Layout;
using test::distributed;
using test::gathered;
using test::Whole;

std::vector<double> geometric(Index n, double condition) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) {
    values.push_back(std::pow(condition, -static_cast<double>(i) / static_cast<double>(std::max(Index{1}, n - 1))));
  }
  return values;
}

template <class T>
void expect_density(mpi::Context& context, const Whole<T>& h_whole, const Whole<T>& s_whole, Index occupied) {
  const Index n = h_whole.n;
  const Layout layout = Layout::rows({n, n}, context.size());
  test::ReplicatedProducts<T> products(context, layout);
  auto h = distributed(context, layout, h_whole);
  auto s = distributed(context, layout, s_whole);
  auto z = allocate<T>(context, layout);
  const InverseRoot root = inverse_root(products, s, z);
  EXPECT_LT(root.error, 1e-9);
  s = distributed(context, layout, s_whole);
  EXPECT_LT(root_error(products, s, z), 1e-9);

  transform(products, z, h);
  auto adjoint = allocate<T>(context, layout);
  take_adjoint(context, h, adjoint);
  EXPECT_EQ(distance(context, h, adjoint), 0);
  Purification<T> purification(products, h, {Method::tc2, occupied, spectrum_of(context, h, Bounds::lanczos)});
  while (purification.advance()) {
  }
  auto d = std::move(purification.density());
  transform(products, z, d);
  const auto states = test::eigenstates(h_whole, s_whole);
  const auto expected = test::density_of(states, occupied);
  const auto found = gathered(context, d);
  double largest = 0;
  for (std::size_t i = 0; i < found.elements.size(); ++i) {
    largest = std::max(largest, std::abs(found.elements[i] - expected.elements[i]));
  }
  EXPECT_LT(largest, 1e-8);
  EXPECT_NEAR(inner_product(context, d, s), static_cast<double>(occupied), 1e-9);
}

TEST(Overlap, IsTakenIntoAccount) {
  mpi::Context context(test::test_comm());
  expect_density(context, test::prescribed<double>(test::spectrum_with_gap(40, 8, 0.1), 1),
                 test::prescribed<double>(geometric(40, 50), 2), 8);
  expect_density(context, test::c60(), test::prescribed<double>(geometric(60, 3), 3), 30);
  expect_density(context, test::prescribed<std::complex<double>>(test::spectrum_with_gap(21, 10, 0.2), 4),
                 test::prescribed<std::complex<double>>(geometric(21, 10), 5), 10);
}

TEST(Overlap, HasAnInverseRootAlsoWhereItIsBadlyConditioned) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({30, 30}, context.size());
  test::ReplicatedProducts<double> products(context, layout);
  const auto whole = test::prescribed<double>(geometric(30, 1e7));
  auto s = distributed(context, layout, whole);
  auto z = allocate<double>(context, layout);
  EXPECT_LT(inverse_root(products, s, z).error, 1e-6);
  s = distributed(context, layout, whole);
  EXPECT_LT(root_error(products, s, z), 1e-6);
}

TEST(Overlap, IsRefusedWhereItIsNotPositiveDefinite) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({10, 10}, context.size());
  test::ReplicatedProducts<double> products(context, layout);
  auto z = allocate<double>(context, layout);
  for (const double lowest : {-0.5, 0.0}) {
    auto s = distributed(context, layout, test::prescribed<double>({lowest, 1, 1, 2, 2, 2, 3, 3, 3, 3}));
    try {
      static_cast<void>(inverse_root(products, s, z));
      ADD_FAILURE() << "the lowest eigenvalue is " << lowest;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("expected a positive definite matrix"));
    }
  }
}

}  // namespace
}  // namespace plait::purify
