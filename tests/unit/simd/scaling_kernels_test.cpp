#include "plait/simd/sweep/scaling_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/simd/sweep/exponential_kernels.hpp"

namespace plait::simd {
namespace {

using Exact = long double;

template <class Pair>
constexpr Exact roundoff() {
  return std::numeric_limits<typename Pair::Number>::epsilon();
}

/// A matrix with columns that belong to nobody behind each row, and elements of both signs.
template <class T>
struct Rows {
  Rows(Index row_count, Index column_count, std::uint64_t seed)
      : rows(row_count), columns(column_count), leading_dimension(column_count + 3) {
    for (Index i = 0; i < rows * leading_dimension + 5; ++i) {
      elements.push_back(narrowed<T>(random_uniform(seed, static_cast<std::uint64_t>(i)) * 2 - 0.75));
    }
  }
  [[nodiscard]] RowBlock<T> block() { return {elements.data() + 1, rows, columns, leading_dimension}; }
  [[nodiscard]] RowBlock<const T> const_block() const {
    return {elements.data() + 1, rows, columns, leading_dimension};
  }
  [[nodiscard]] Exact operator()(Index i, Index j) const {
    return widened<double>(elements[static_cast<std::size_t>(1 + i * leading_dimension + j)]);
  }

  Index rows;
  Index columns;
  Index leading_dimension;
  std::vector<T> elements;
};

template <class A>
std::vector<A> random_factors(Index n, std::uint64_t seed) {
  std::vector<A> values;
  for (Index i = 0; i < n; ++i) {
    values.push_back(static_cast<A>(random_uniform(seed, static_cast<std::uint64_t>(i)) + 0.25));
  }
  return values;
}

template <class Pair>
class Kernels : public ::testing::Test {};
using Pairs = ::testing::Types<ElementAndNumber<double, double>, ElementAndNumber<float, float>,
                               ElementAndNumber<float, double>, ElementAndNumber<BFloat16, float>>;
TYPED_TEST_SUITE(Kernels, Pairs);

/// Runs f(isa, rows, columns) on every instruction set, for all numbers of rows and remainders of columns.
template <class F>
void for_all_shapes(F f) {
  for (const Isa isa : supported_isas()) {
    for (Index rows = 0; rows <= 13; ++rows) {
      for (const Index columns : {0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 97, 131}) {
        SCOPED_TRACE(std::string(name(isa)) + ", " + std::to_string(rows) + " x " + std::to_string(columns));
        f(isa, rows, columns);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(Kernels, SumUpRowsOnEveryIsa) {
  using T = typename TypeParam::Element;
  using A = typename TypeParam::Number;
  for_all_shapes([](Isa isa, Index rows, Index columns) {
    const Rows<T> k(rows, columns, 1);
    const Rows<T> next(rows, columns, 2);
    const auto v = random_factors<A>(columns, 3);
    std::vector<A> sums(static_cast<std::size_t>(rows) + 1, A{-7});
    scaling_kernels<T, A>(isa).row_sums(k.const_block(), v.data(), sums.data(), next.const_block());
    for (Index i = 0; i < rows; ++i) {
      Exact sum = 0;
      Exact magnitude = 0;
      for (Index j = 0; j < columns; ++j) {
        const Exact product = k(i, j) * Exact{v[static_cast<std::size_t>(j)]};
        sum += product;
        magnitude += std::abs(product);
      }
      EXPECT_NEAR(static_cast<double>(sums[static_cast<std::size_t>(i)]), static_cast<double>(sum),
                  static_cast<double>(roundoff<TypeParam>() * (columns + 1) * magnitude));
    }
    EXPECT_EQ(sums.back(), A{-7});
  });
}

TYPED_TEST(Kernels, AddToTheSumsOfColumnsOnEveryIsa) {
  using T = typename TypeParam::Element;
  using A = typename TypeParam::Number;
  for_all_shapes([](Isa isa, Index rows, Index columns) {
    const Rows<T> k(rows, columns, 4);
    const Rows<T> next(rows, columns, 5);
    const auto u = random_factors<A>(rows, 6);
    const auto before = random_factors<A>(columns + 1, 7);
    std::vector<A> c = before;
    scaling_kernels<T, A>(isa).column_sums(k.const_block(), u.data(), c.data(), next.const_block());
    for (Index j = 0; j < columns; ++j) {
      Exact sum = before[static_cast<std::size_t>(j)];
      for (Index i = 0; i < rows; ++i) sum += Exact{u[static_cast<std::size_t>(i)]} * k(i, j);
      EXPECT_NEAR(static_cast<double>(c[static_cast<std::size_t>(j)]), static_cast<double>(sum),
                  static_cast<double>(roundoff<TypeParam>() * (2 * rows + 2)));
    }
    EXPECT_EQ(c.back(), before.back());
  });
}

TYPED_TEST(Kernels, RescaleInPlaceAndSumUpWhatComesOfItOnEveryIsa) {
  using T = typename TypeParam::Element;
  using A = typename TypeParam::Number;
  for_all_shapes([](Isa isa, Index rows, Index columns) {
    const Rows<T> before(rows, columns, 8);
    Rows<T> k = before;
    const auto u = random_factors<A>(rows, 9);
    const auto v = random_factors<A>(columns, 10);
    std::vector<A> c(static_cast<std::size_t>(columns) + 1, A{0});
    scaling_kernels<T, A>(isa).rescale(k.block(), u.data(), v.data(), c.data(), before.const_block());
    const Exact of_element =
        std::is_same_v<T, BFloat16> ? Exact{0x1p-8} : Exact{std::is_same_v<T, float> ? 0x1p-22 : 0x1p-50};
    for (Index j = 0; j < columns; ++j) {
      Exact sum = 0;
      for (Index i = 0; i < rows; ++i) {
        const Exact scaled =
            before(i, j) * Exact{u[static_cast<std::size_t>(i)]} * Exact{v[static_cast<std::size_t>(j)]};
        sum += scaled;
        EXPECT_NEAR(static_cast<double>(k(i, j)), static_cast<double>(scaled),
                    static_cast<double>(std::abs(scaled) * of_element));
      }
      EXPECT_NEAR(static_cast<double>(c[static_cast<std::size_t>(j)]), static_cast<double>(sum),
                  static_cast<double>(roundoff<TypeParam>() * (4 * rows + 2)));
    }
    EXPECT_EQ(c.back(), A{0});
    for (Index i = 0; i < rows; ++i) {  // nothing between the rows was written
      for (Index j = columns; j < k.leading_dimension; ++j) EXPECT_EQ(k(i, j), before(i, j));
    }
  });
}

TYPED_TEST(Kernels, MultiplyColumnsInPlaceOnEveryIsa) {
  using T = typename TypeParam::Element;
  using A = typename TypeParam::Number;
  for_all_shapes([](Isa isa, Index rows, Index columns) {
    const Rows<T> before(rows, columns, 11);
    Rows<T> k = before;
    const auto v = random_factors<A>(columns, 12);
    scaling_kernels<T, A>(isa).multiply_columns(k.block(), v.data());
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < k.leading_dimension; ++j) {
        const T expected = j < columns ? narrowed<T>(static_cast<A>(before(i, j)) * v[static_cast<std::size_t>(j)])
                                       : narrowed<T>(static_cast<A>(before(i, j)));
        EXPECT_EQ(static_cast<double>(k(i, j)), widened<double>(expected));
      }
    }
  });
}

TEST(RescaledBFloat16, IsRoundedToNearestTiesToEven) {
  for (const Isa isa : supported_isas()) {
    std::vector<BFloat16> k(64, to_bfloat16(1));
    std::vector<float> v(64);
    for (std::size_t j = 0; j < v.size(); ++j) v[j] = 1 + static_cast<float>(j) * 0x1p-10F;
    scaling_kernels<BFloat16, float>(isa).multiply_columns({k.data(), 1, 64, 64}, v.data());
    for (std::size_t j = 0; j < v.size(); ++j) EXPECT_EQ(k[j].bits, to_bfloat16(v[j]).bits) << name(isa) << " " << j;
  }
}

template <class Pair>
class Exponentials : public ::testing::Test {};
using WidePairs =
    ::testing::Types<ElementAndNumber<double, double>, ElementAndNumber<float, float>, ElementAndNumber<float, double>>;
TYPED_TEST_SUITE(Exponentials, WidePairs);

TYPED_TEST(Exponentials, AreThoseOfTheMathematicsWithinTheirBoundsOnEveryIsa) {
  using T = typename TypeParam::Element;
  using A = typename TypeParam::Number;
  constexpr bool is_double = std::is_same_v<A, double>;
  const Exact bound = is_double ? 5.6e-16L : 1.5e-7L;
  const double lowest = is_double ? -708 : -87;
  const double highest = is_double ? 709.7 : 88.7;
  constexpr Index columns = 20011;
  const std::vector<T> no_costs(columns, T{0});
  std::vector<A> g;
  for (Index j = 0; j < columns; ++j) {
    const double place = random_uniform(13, static_cast<std::uint64_t>(j));
    g.push_back(static_cast<A>(j % 2 == 0 ? lowest + (highest - lowest) * place : 2 * place - 1));
  }
  for (const Isa isa : supported_isas()) {
    std::vector<A> e(columns);
    A sum = 0;
    const A f = 0;
    exponential_kernels<T, A>(isa).exponential_sums({no_costs.data(), 1, columns, columns}, A{-1}, &f, g.data(),
                                                    {e.data(), 1, columns, columns}, &sum);
    Exact worst = 0;
    for (std::size_t j = 0; j < e.size(); ++j) {
      const Exact of_exponent = std::abs(Exact{g[j]}) * std::numeric_limits<A>::epsilon();
      worst = std::max(worst, std::abs(Exact{e[j]} / std::exp(Exact{g[j]}) - 1) - of_exponent);
    }
    EXPECT_LE(worst, bound) << name(isa);
  }
}

TYPED_TEST(Exponentials, BeyondTheRangeOfNormalNumbersAreZeroOrInfinite) {
  using T = typename TypeParam::Element;
  using A = typename TypeParam::Number;
  using Limits = std::numeric_limits<A>;
  const A inf = Limits::infinity();
  const A least = std::log(Limits::min());
  const std::vector<A> exponents{-inf,
                                 -1000,
                                 least - A{0.01F},
                                 0,
                                 1000,
                                 A{1e13F},
                                 inf,
                                 Limits::quiet_NaN(),
                                 -0.0,
                                 Limits::lowest(),
                                 least + A{0.01F}};
  const auto n = static_cast<Index>(exponents.size());
  const std::vector<T> costs(exponents.size(), T{0});
  for (const Isa isa : supported_isas()) {
    std::vector<A> e(exponents.size());
    A sum = 0;
    const A f = 0;
    exponential_kernels<T, A>(isa).exponential_sums({costs.data(), 1, n, n}, A{0}, &f, exponents.data(),
                                                    {e.data(), 1, n, n}, &sum);
    EXPECT_EQ(e[0], A{0}) << name(isa);
    EXPECT_EQ(e[1], A{0}) << name(isa);
    EXPECT_EQ(e[2], A{0}) << name(isa);
    EXPECT_EQ(e[3], A{1}) << name(isa);
    EXPECT_EQ(e[4], inf) << name(isa);
    EXPECT_EQ(e[5], inf) << name(isa);
    EXPECT_FALSE(std::isfinite(e[6])) << name(isa);
    EXPECT_TRUE(std::isnan(e[7])) << name(isa);
    EXPECT_EQ(e[8], A{1}) << name(isa);
    EXPECT_EQ(e[9], A{0}) << name(isa);
    EXPECT_NEAR(static_cast<double>(e[10] / Limits::min()), std::exp(0.01), 1e-4) << name(isa);
  }
}

TYPED_TEST(Exponentials, OfCostsAndPotentialsAreSummedUpOnEveryIsa) {
  using T = typename TypeParam::Element;
  using A = typename TypeParam::Number;
  for_all_shapes([](Isa isa, Index rows, Index columns) {
    const Rows<T> cost(rows, columns, 14);
    const auto f = random_factors<A>(rows, 16);
    const auto g = random_factors<A>(columns, 17);
    const A factor = -3;
    std::vector<A> e(static_cast<std::size_t>(rows * (columns + 1)) + 1, A{-7});
    std::vector<A> sums(static_cast<std::size_t>(rows) + 1, A{-7});
    exponential_kernels<T, A>(isa).exponential_sums(cost.const_block(), factor, f.data(), g.data(),
                                                    {e.data(), rows, columns, columns + 1}, sums.data());
    std::vector<A> maxima(static_cast<std::size_t>(rows) + 1, A{-7});
    exponential_kernels<T, A>(isa).row_maxima(cost.const_block(), factor, g.data(), maxima.data());
    for (Index i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      Exact sum = 0;
      Exact maximum = -std::numeric_limits<Exact>::infinity();
      for (Index j = 0; j < columns; ++j) {
        const Exact exponent = Exact{factor} * cost(i, j) + Exact{g[static_cast<std::size_t>(j)]};
        const Exact expected = std::exp(exponent + Exact{f[row]});
        EXPECT_NEAR(static_cast<double>(e[static_cast<std::size_t>(i * (columns + 1) + j)]),
                    static_cast<double>(expected), static_cast<double>(20 * roundoff<TypeParam>() * expected));
        sum += expected;
        maximum = std::max(maximum, exponent);
      }
      EXPECT_EQ(e[static_cast<std::size_t>(i * (columns + 1) + columns)], A{-7});
      EXPECT_NEAR(static_cast<double>(sums[row]), static_cast<double>(sum),
                  static_cast<double>(sum * roundoff<TypeParam>() * (columns + 20)));
      if (columns == 0) {
        EXPECT_EQ(maxima[row], -std::numeric_limits<A>::infinity());
      } else {
        EXPECT_NEAR(static_cast<double>(maxima[row]), static_cast<double>(maximum),
                    static_cast<double>(8 * roundoff<TypeParam>()));
      }
    }
    EXPECT_EQ(e.back(), A{-7});
    EXPECT_EQ(sums.back(), A{-7});
    EXPECT_EQ(maxima.back(), A{-7});
  });
}

}  // namespace
}  // namespace plait::simd
