#include "plait/purify/eigenstates.hpp"

#include <cmath>
#include <complex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/purify/eigensolver.hpp"
#include "mpi/purify/replicated_products.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::purify {
namespace {

using layout::Layout;
using test::distributed;
using test::gathered;
using test::Whole;
using testing::HasSubstr;

class EigenstatesTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      expect_eigensolver(eigenstates_layout(150, mpi::Context(test::test_comm())));
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <class To, class From>
Matrix<To> converted(const Matrix<From>& from) {
  Matrix<To> to(from.layout(), from.rank());
  for (std::size_t t = 0; t < from.const_tiles().size(); ++t) {
    for (Index i = 0; i < from.const_tiles()[t].span(); ++i) {
      to.tiles()[t].data()[i] = static_cast<To>(from.const_tiles()[t].data()[i]);
    }
  }
  return to;
}

/// Weights of both signs, and none for some states.
std::vector<double> weights_of(Index n) {
  std::vector<double> weights;
  for (Index k = 0; k < n; ++k) weights.push_back(k % 5 == 3 ? 0 : std::cos(static_cast<double>(k) / 3));
  return weights;
}

template <class T>
void expect_states(mpi::Context& context, const Layout& layout, const Whole<Wide<T>>& h, const Whole<Wide<T>>* s,
                   double tolerance) {
  const Index n = h.n;
  Whole<Wide<T>> identity{n};
  for (Index i = 0; i < n; ++i) identity(i, i) = 1;
  const auto expected = n == 0 ? test::Eigenstates<Wide<T>>{} : test::eigenstates(h, s == nullptr ? identity : *s);
  const auto own = converted<T>(distributed(context, layout, h));
  const auto own_s = converted<T>(distributed(context, layout, s == nullptr ? identity : *s));
  Eigenstates<T> found(context, own, s == nullptr ? nullptr : &own_s);
  ASSERT_EQ(found.values().size(), static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < found.values().size(); ++k) {
    EXPECT_NEAR(found.values()[k], expected.values[k], tolerance) << n << " " << k;
  }
  EXPECT_EQ(gathered(context, converted<Wide<T>>(own)).elements,
            gathered(context, converted<Wide<T>>(converted<T>(distributed(context, layout, h)))).elements);

  const auto weights = weights_of(n);
  Whole<Wide<T>> sum{n};
  for (Index k = 0; k < n; ++k) {
    for (Index j = 0; j < n; ++j) {
      Wide<T> factor = weights[static_cast<std::size_t>(k)] * expected.vectors(j, k);
      if constexpr (is_complex<T>) factor = std::conj(factor);
      for (Index i = 0; i < n; ++i) sum(i, j) += expected.vectors(i, k) * factor;
    }
  }
  Matrix<T> d(layout, context.rank());
  found.weigh(weights, d);
  const auto whole = gathered(context, converted<Wide<T>>(d));
  for (std::size_t i = 0; i < whole.elements.size(); ++i) {
    EXPECT_LT(std::abs(whole.elements[i] - sum.elements[i]), tolerance) << n;
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) {
      if constexpr (is_complex<T>) {
        EXPECT_EQ(whole(i, j), std::conj(whole(j, i)));
      } else {
        EXPECT_EQ(whole(i, j), whole(j, i));
      }
    }
  }
}

std::vector<double> spread(Index n, double low, double high) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) values.push_back(low + (high - low) * std::pow(double(i + 1) / double(n), 1.5));
  return values;
}

template <class T>
void expect_all(double tolerance) {
  mpi::Context context(test::test_comm());
  for (const Index n : {0, 1, 2, 3, 13, 150}) {
    const auto h = test::prescribed<Wide<T>>(spread(n, -1, 2), 3);
    const auto s = test::prescribed<Wide<T>>(spread(n, 0.5, 2), 4);
    for (const Layout& layout : {Layout::rows({n, n}, context.size()), Layout::blocks({n, n}, 1, context.size())}) {
      expect_states<T>(context, layout, h, nullptr, tolerance);
      expect_states<T>(context, layout, h, &s, tolerance);
    }
  }
}

TEST_F(EigenstatesTest, AreThoseOfLapackForDouble) { expect_all<double>(1e-11); }
TEST_F(EigenstatesTest, AreThoseOfLapackForComplexDouble) { expect_all<std::complex<double>>(1e-11); }
TEST_F(EigenstatesTest, AreThoseOfLapackForFloat) { expect_all<float>(2e-3); }
TEST_F(EigenstatesTest, AreThoseOfLapackForComplexFloat) { expect_all<std::complex<float>>(2e-3); }

TEST_F(EigenstatesTest, WeighALevelThatIsDegenerate) {
  mpi::Context context(test::test_comm());
  std::vector<double> values(30, 1.0);
  for (std::size_t k = 0; k < 10; ++k) values[k] = -1;
  const auto h = test::prescribed<double>(values, 5);
  const Layout layout = Layout::rows({30, 30}, context.size());
  const auto own = distributed(context, layout, h);
  Eigenstates<double> states(context, own);
  Matrix<double> d(layout, context.rank());
  std::vector<double> lowest(30);
  std::fill_n(lowest.begin(), 10, 1.0);
  states.weigh(lowest, d);
  d.for_each_element([&](Index i, Index j, double element) {
    EXPECT_NEAR(element, ((i == j ? 1 : 0) - h(i, j)) / 2, 1e-12);  // the projector onto the lower level
  });
}

TEST_F(EigenstatesTest, RefuseOnAllRanksAnOverlapThatIsNotPositiveDefinite) {
  mpi::Context context(test::test_comm());
  const auto h = test::prescribed<double>(spread(20, -1, 1));
  const auto s = test::prescribed<double>(spread(20, -0.1, 1));
  const Layout layout = Layout::rows({20, 20}, context.size());
  const auto own = distributed(context, layout, h);
  const auto own_s = distributed(context, layout, s);
  try {
    Eigenstates<double> states(context, own, &own_s);
    ADD_FAILURE();
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("overlap: is not positive definite"));
  }
}

TEST_F(EigenstatesTest, RefuseEnergiesWhoseSquaresLeaveTheRangeOfNumbers) {
  mpi::Context context(test::test_comm());
  for (const double unit : {1e-200, 1e200}) {
    auto whole = test::prescribed<double>({0, 1, 2, 3});
    for (double& element : whole.elements) element *= unit;
    const auto h = distributed(context, Layout::columns({4, 4}, context.size()), whole);
    EXPECT_THAT(test::message_of<ArgumentError>([&] { return Eigenstates<double>(context, h); }),
                ::testing::HasSubstr("at most, expected 1e-140 to 1e+140 in an orthonormal basis: choose another"));
  }
}

TEST(EigenstatesLayout, RefusesWorkspacesThatLibrariesCantCount) {
  EXPECT_NO_THROW(expect_countable<double>(eigenstates_layout(32000, {1, 1}, 1)));
  EXPECT_NO_THROW(expect_countable<double>(eigenstates_layout(60000, {4, 4}, 4)));
  for (const int ranks : {1, 2}) {
    try {
      expect_countable<double>(eigenstates_layout(60000, {ranks, 1}, 1));
      ADD_FAILURE() << ranks;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr("use more ranks"));
    }
  }
  EXPECT_THROW(expect_countable<std::complex<double>>(eigenstates_layout(33000, {1, 1}, 1)), ArgumentError);
}

TEST(EigenstatesLayout, GivesRanksWithoutACoreOfTheirOwnNothing) {
  const auto ranks = [](Index n, const model::Placement& placement, int cores) {
    return eigenstates_layout(n, placement, cores).ranks();
  };
  EXPECT_EQ(ranks(2000, {9, 9}, 2), 1);
  EXPECT_EQ(ranks(9000, {9, 9}, 2), 2) << "more than one has room for";
  EXPECT_EQ(ranks(2000, {40, 40}, 16), 16);
  EXPECT_EQ(ranks(2000, {40, 10}, 8), 1) << "on each of four nodes";
  EXPECT_EQ(ranks(2000, {16, 8}, 8), 16);
  EXPECT_EQ(ranks(2000, {9, 9}, 0), 9) << "of a number that is unknown";
}

TEST(EigenstatesLayout, GivesEachRankOfItsGridABlockAndLeavesFewRanksOver) {
  for (const Index n : {1, 2, 5, 64, 1000}) {
    for (const int ranks : {1, 2, 3, 7, 11, 16, 97}) {
      const Layout layout = eigenstates_layout(n, {ranks, ranks}, ranks);
      EXPECT_LE(layout.ranks(), ranks);
      if (ranks < 4 || (ranks <= 8 && n >= 500)) {
        EXPECT_EQ(layout.ranks(), 1) << n << " " << ranks;
      } else if (n > 100) {
        EXPECT_GT(layout.ranks(), 0.6 * ranks);
      }
      for (int rank = 0; rank < layout.ranks(); ++rank) EXPECT_GT(layout.elements_of(rank), 0) << n << " " << ranks;
    }
  }
}

}  // namespace
}  // namespace plait::purify
