#include <cmath>
#include <complex>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"
#include "plait/purify/hamiltonian.hpp"

#include "mpi/purify/replicated_products.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using layout::Layout;
using ::testing::HasSubstr;

template <class F>
std::string complaint(F&& f) {
  try {
    f();
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "none";
}

TEST(PurificationInput, TellsHowManyStatesElectronsOccupy) {
  EXPECT_EQ(occupied_states(60, 2, 60), 30);
  EXPECT_EQ(occupied_states(0, 2, 0), 0);
  EXPECT_EQ(occupied_states(7, 1, 7), 7);
  EXPECT_THAT(complaint([] { static_cast<void>(occupied_states(-1, 2, 4)); }), HasSubstr("is -1, expected 0 to 8"));
  EXPECT_THAT(complaint([] { static_cast<void>(occupied_states(9, 2, 4)); }), HasSubstr("is 9, expected 0 to 8"));
  EXPECT_THAT(complaint([] { static_cast<void>(occupied_states(5, 1, 4)); }), HasSubstr("is 5, expected 0 to 4"));
  EXPECT_THAT(complaint([] { static_cast<void>(occupied_states(5, 2, 4)); }), HasSubstr("is 5, expected an even"));
  EXPECT_EQ(partly_occupied_states(5, 2, 4), 3);
  EXPECT_EQ(partly_occupied_states(8, 2, 4), 4);
  EXPECT_EQ(partly_occupied_states(6.5, 2, 4), 4);
  EXPECT_THAT(complaint([] { static_cast<void>(partly_occupied_states(9, 2, 4)); }),
              HasSubstr("is 9, expected 0 to 8"));
}

TEST(PurificationInput, IsRefusedWhereItIsNotFinite) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::block_cyclic({9, 9}, 2, 2, layout::Owners::grid(1, context.size()));
  test::Whole<double> whole{9};
  EXPECT_NO_THROW(expect_finite(context, test::distributed(context, layout, whole), "H.npy"));
  whole(7, 1) = std::numeric_limits<double>::infinity();
  whole(5, 8) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(complaint([&] { expect_finite(context, test::distributed(context, layout, whole), "H.npy"); }),
              HasSubstr("H.npy: element (5, 8), counted from 0, is nan, expected a finite number"));
}

TEST(PurificationInput, IsRefusedWhereItIsNotSymmetric) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::block_cyclic({9, 9}, 2, 3, layout::Owners::grid(context.size(), 1));
  auto whole = test::polyacetylene(9);
  whole(3, 4) += 1e-12;  // of rounding
  auto almost = test::distributed(context, layout, whole);
  make_hermitian(context, almost, "H.npy");
  const auto made = test::gathered(context, almost);
  for (Index i = 0; i < 9; ++i) {
    for (Index j = 0; j < 9; ++j) {
      EXPECT_EQ(made(i, j), made(j, i));
      EXPECT_NEAR(made(i, j), whole(i, j), 1e-11);
    }
  }
  whole(2, 7) = 0.25;
  whole(1, 8) = 0.125;
  auto matrix = test::distributed(context, layout, whole);
  EXPECT_THAT(complaint([&] { make_hermitian(context, matrix, "H.npy"); }),
              HasSubstr("H.npy: is not symmetric: element (2, 7), counted from 0, is 0.25, but (7, 2) is 0"));
}

TEST(PurificationInput, IsRefusedWhereRanksMeanOtherTriangles) {
  if (test::ranks() == 1) return;
  mpi::Context context(test::test_comm());
  const Triangle triangle = test::rank() == 1 ? Triangle::upper : Triangle::lower;
  test::Whole<double> whole{4};
  whole(2, 0) = 1;
  auto matrix = test::distributed(context, Layout::rows({4, 4}, context.size()), whole);
  const auto is_told = HasSubstr("rank 1: triangle: is upper, but lower on rank 0");
  EXPECT_THAT(complaint([&] { expect_triangle(context, matrix, triangle, "H"); }), is_told);
  EXPECT_THAT(complaint([&] { fill_from_triangle(context, matrix, triangle); }), is_told);
}

TEST(PurificationInput, IsRefusedWhereItIsNotHermitian) {
  mpi::Context context(test::test_comm());
  const Layout layout = Layout::rows({4, 4}, context.size());
  test::Whole<std::complex<double>> whole{4};
  whole(0, 1) = {1, 2};
  whole(1, 0) = {1, -2};
  auto matrix = test::distributed(context, layout, whole);
  EXPECT_NO_THROW(make_hermitian(context, matrix, "H"));
  whole(3, 3) = {0, 1};
  auto other = test::distributed(context, layout, whole);
  EXPECT_THAT(complaint([&] { make_hermitian(context, other, "H"); }),
              HasSubstr("H: is not Hermitian: element (3, 3), counted from 0, is 0+1i, expected a real number"));
}

}  // namespace
}  // namespace plait::purify
