// A rank that has no memory left for what a density matrix needs tells the others.
#include "support/allocation_failures.hpp"

#include <complex>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"
#include "plait/purify/dense_products.hpp"
#include "plait/purify/eigenstates.hpp"
#include "plait/purify/filling.hpp"
#include "plait/purify/hamiltonian.hpp"
#include "plait/purify/orthogonal.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/sequence.hpp"
#include "plait/purify/spectrum.hpp"

#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using layout::Layout;
using test::expect_one_end_on_all_ranks;

constexpr Index n = 6;

/// A chain of sites, the first of which are lower.
template <class T>
Matrix<T> chain(const Layout& layout, int rank) {
  Matrix<T> h(layout, rank);
  h.for_each_element([](Index i, Index j, T& element) {
    element = i == j ? (i < n / 2 ? -2 : 2) : i - j == 1 || j - i == 1 ? -1 : 0;
  });
  return h;
}

TEST(PurificationAllocationFailures, EndThePlanningOfProductsOnAllRanks) {
  mpi::Context context(test::test_comm());
  for (const Squares squares : {Squares::halves, Squares::cube}) {
    expect_one_end_on_all_ranks([&] {
      DenseProducts<double> products(context, n, squares);
      auto [a, c] = mpi::agreed(context, [&] {
        return std::pair(chain<double>(products.layout(), context.rank()),
                         chain<double>(products.layout(), context.rank()));
      });
      products.square(a, c);
      products.multiply(a, a, c);
    });
  }
}

template <class T>
void expect_one_end_of_purifications(mpi::Context& context, Method method, Index occupied, bool is_mixed = false) {
  DenseProducts<T> products(context, n, Squares::halves);
  std::optional<DenseProducts<Single<T>>> early;
  if (is_mixed) early.emplace(context, n, Squares::halves);
  const auto h = chain<T>(products.layout(), context.rank());
  expect_one_end_on_all_ranks([&] {
    const Problem problem{method, occupied, spectrum_of(context, h, Bounds::lanczos), 0.0};
    Purification<T> purification(products, h, problem, early ? &*early : nullptr);
    while (purification.advance()) purification.follow_frontier();
    static_cast<void>(purification.frontier());
    const DensityErrors errors = density_errors(context, purification.state(), h, purification.density());
    EXPECT_LT(errors.idempotency, 1e-12);
  });
}

TEST(PurificationAllocationFailures, EndAPurificationOnAllRanks) {
  mpi::Context context(test::test_comm());
  for (const Method method : {Method::tc2, Method::trs4}) {
    expect_one_end_of_purifications<double>(context, method, n / 2);
  }
  expect_one_end_of_purifications<double>(context, Method::tc2, n);
}

TEST(PurificationAllocationFailures, EndAPurificationWithEarlyStepsInSinglePrecisionOnAllRanks) {
  mpi::Context context(test::test_comm());
  expect_one_end_of_purifications<std::complex<double>>(context, Method::canonical, n / 2, true);
}

TEST(PurificationAllocationFailures, EndASequenceOfPurificationsOnAllRanks) {
  mpi::Context context(test::test_comm());
  DenseProducts<double> products(context, n, Squares::halves);
  const auto h = chain<double>(products.layout(), context.rank());
  expect_one_end_on_all_ranks([&] {
    Sequence<double> sequence(products);
    for (int i = 0; i < 2; ++i) {
      auto copy = mpi::agreed(context, [&] { return chain<double>(h.layout(), context.rank()); });
      auto& purification = sequence.begin(std::move(copy), {Method::tc2, n / 2, {}});
      while (purification.advance()) purification.follow_frontier();
    }
  });
}

TEST(PurificationAllocationFailures, EndTheWayThereAndBackOfAnOverlapOnAllRanks) {
  mpi::Context context(test::test_comm());
  DenseProducts<double> products(context, n, Squares::halves);
  auto s = chain<double>(products.layout(), context.rank());
  s.for_each_element([](Index i, Index j, double& element) { element = i == j ? 1 : element / 4; });
  expect_one_end_on_all_ranks([&] {
    auto [copy, h] = mpi::agreed(context, [&] {
      auto of_s = Matrix<double>(s.layout(), context.rank());
      of_s.for_each_element([](Index i, Index j, double& element) {
        element = i == j ? 1 : i - j == 1 || j - i == 1 ? -0.25 : 0;
      });
      return std::pair(std::move(of_s), chain<double>(s.layout(), context.rank()));
    });
    make_hermitian(context, h, "h");
    auto z = mpi::agreed(context, [&] { return Matrix<double>(s.layout(), context.rank()); });
    static_cast<void>(inverse_root(products, copy, z));
    transform(products, z, h);
    EXPECT_LT(root_error(products, s, z), 1e-9);
  });
}

TEST(PurificationAllocationFailures, EndTheSearchForEigenstatesOnAllRanks) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::columns({n, n}, context.size());
  const auto h = chain<double>(layout, context.rank());
  Matrix<double> d(layout, context.rank());
  static_cast<void>(Eigenstates<double>(context, h));  // finds the library
  expect_one_end_on_all_ranks([&] {
    Eigenstates<double> states(context, h);
    const Filling filling = mpi::agreed(context, [&] { return fill(states.values(), n / 2, Smearing::none, 0); });
    states.weigh(filling.occupations.of_states, d);
    EXPECT_LT(density_errors<double>(context, states.values(), filling, h, nullptr, d).idempotency, 1e-12);
  });
}

}  // namespace
}  // namespace plait::purify
