#include "plait/purify/spectrum.hpp"

#include <cmath>
#include <complex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/purify/eigensolver.hpp"
#include "mpi/purify/replicated_products.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using layout::Layout;

template <class T>
void expect_bounds(mpi::Context& context, const test::Whole<T>& whole) {
  const auto states = test::eigenstates(whole);
  const auto h = test::distributed(context, Layout::rows({whole.n, whole.n}, context.size()), whole);
  const Interval wide = spectrum_of(context, h, Bounds::gershgorin);
  const Interval narrow = spectrum_of(context, h, Bounds::lanczos);
  for (const Interval& interval : {wide, narrow}) {
    EXPECT_LE(interval.low, states.values.front() + 1e-12);
    EXPECT_GE(interval.high, states.values.back() - 1e-12);
  }
  EXPECT_LE(narrow.width(), wide.width());
  EXPECT_LT(narrow.width(), 1.2 * (states.values.back() - states.values.front()) + 1e-9);
}

TEST(Spectrum, LiesWithinItsBounds) {
  mpi::Context context(test::test_comm());
  expect_bounds(context, test::polyacetylene(150));
  expect_bounds(context, test::gapped_graphene(6, 6));
  expect_bounds(context, test::c60());
  expect_bounds(context, test::prescribed<double>({-3}));
  expect_bounds(context, test::prescribed<double>({-3, 5}));
  expect_bounds(context, test::prescribed<double>(test::spectrum_with_gap(80, 3, 0.5)));
  expect_bounds(context, test::prescribed<double>(test::spectrum_with_gap(300, 150, 0.1)));
  expect_bounds(context, test::prescribed<std::complex<double>>(test::spectrum_with_gap(33, 30, 0.4)));
}

TEST(Spectrum, IsRefusedWhereRanksMeanOtherBounds) {
  if (test::ranks() == 1) return;
  mpi::Context context(test::test_comm());
  const auto h = test::distributed(context, Layout::rows({9, 9}, context.size()), test::polyacetylene(9));
  const Bounds bounds = test::rank() == 1 ? Bounds::gershgorin : Bounds::lanczos;
  EXPECT_THROW(static_cast<void>(spectrum_of(context, h, bounds)), ArgumentError);
}

TEST(Spectrum, NamesTheElementThatIsNoNumber) {
  mpi::Context context(test::test_comm());
  for (const std::size_t place : {33U, 34U}) {  // on the diagonal, and beside it
    for (const double wrong : {NAN, INFINITY}) {
      test::Whole<double> whole = test::polyacetylene(10);
      whole.elements[place] = wrong;
      const auto h = test::distributed(context, Layout::rows({10, 10}, context.size()), whole);
      for (const Bounds bounds : {Bounds::gershgorin, Bounds::lanczos}) {
        EXPECT_THAT(test::message_of<ArgumentError>([&] { static_cast<void>(spectrum_of(context, h, bounds)); }),
                    testing::AllOf(testing::HasSubstr("h: element"), testing::HasSubstr("expected a finite number")));
      }
    }
  }
}

TEST(Spectrum, OfNoStatesIsEmpty) {
  mpi::Context context(test::test_comm());
  const Matrix<double> h(Layout::rows({0, 0}, context.size()), context.rank());
  EXPECT_EQ(spectrum_of(context, h, Bounds::lanczos), Interval());
}

TEST(Spectrum, IsRefusedWhereSquaresLeaveTheRangeOfNumbers) {
  mpi::Context context(test::test_comm());
  for (const double scale : {1e160, 1e-160}) {
    test::Whole<double> whole = test::polyacetylene(10);
    for (double& element : whole.elements) element *= scale;
    const auto h = test::distributed(context, Layout::rows({whole.n, whole.n}, context.size()), whole);
    EXPECT_THROW(static_cast<void>(spectrum_of(context, h, Bounds::lanczos)), ArgumentError);
  }
}

}  // namespace
}  // namespace plait::purify
