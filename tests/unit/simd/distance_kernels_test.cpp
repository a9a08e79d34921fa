#include "plait/simd/sweep/distance_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/simd/sweep/point_exponentials.hpp"

namespace plait::simd {
namespace {

template <class A>
class Distances : public ::testing::Test {};
using Numbers = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Distances, Numbers);

TYPED_TEST(Distances, AreThoseOfTheTextbookOnEveryIsa) {
  using A = TypeParam;
  const A nobodys = -7;
  for (const Isa isa : supported_isas()) {
    for (Index rows = 0; rows <= 9; ++rows) {
      for (const Index coordinates : {0, 1, 3, 17}) {
        for (const Index panels : {0, 1, 3}) {
          SCOPED_TRACE(std::string(name(isa)) + ", " + std::to_string(rows) + " points, " +
                       std::to_string(coordinates) + " coordinates, " + std::to_string(panels) + " panels");
          const Index columns = panels * panel_points;
          const Index x_pitch = coordinates + 2;
          const Index d_pitch = columns + 3;
          std::vector<A> x;
          std::vector<A> y;
          // Far from the origin, so that squares minus products would lose most digits.
          for (Index i = 0; i < rows * x_pitch; ++i) {
            x.push_back(static_cast<A>(1000 + random_uniform(1, static_cast<std::uint64_t>(i))));
          }
          for (Index i = 0; i < columns * coordinates; ++i) {
            y.push_back(static_cast<A>(1000 + random_uniform(2, static_cast<std::uint64_t>(i))));
          }
          const auto kernels = distance_kernels<A>(isa);
          const std::array named{kernels.squared, kernels.euclidean, kernels.cityblock, kernels.chebyshev,
                                 kernels.inner};
          const std::array<A, 4> powers{1, 3, 2.5, 70};
          for (std::size_t which = 0; which < named.size() + powers.size(); ++which) {
            std::vector<A> d(static_cast<std::size_t>(rows * d_pitch), nobodys);
            const RowBlock<const A> points{x.data(), rows, coordinates, x_pitch};
            const RowBlock<A> to{d.data(), rows, columns, d_pitch};
            const A p = which < 5 ? A{2} : powers[which - 5];
            which < 5 ? named[which](points, y.data(), panels, to) : kernels.minkowski(points, y.data(), panels, to, p);
            for (Index i = 0; i < rows; ++i) {
              for (Index j = 0; j < columns; ++j) {
                long double sum = 0;
                for (Index k = 0; k < coordinates; ++k) {
                  const auto at =
                      static_cast<std::size_t>((j / panel_points * coordinates + k) * panel_points + j % panel_points);
                  const long double own = x[static_cast<std::size_t>(i * x_pitch + k)];
                  const long double t = own - y[at];
                  if (which == 4) {
                    sum += own * y[at];
                  } else if (which == 3) {
                    sum = std::max(sum, std::abs(t));
                  } else {
                    sum += which == 2 ? std::abs(t) : std::pow(std::abs(t), static_cast<long double>(p));
                  }
                }
                if (which == 1) sum = std::sqrt(sum);
                if (which > 4) sum = std::pow(sum, 1 / static_cast<long double>(p));
                const auto expected = static_cast<double>(sum);
                const double roundings =
                    static_cast<double>(coordinates + (which > 4 ? 12 : 3)) * std::numeric_limits<A>::epsilon();
                ASSERT_NEAR(static_cast<double>(d[static_cast<std::size_t>(i * d_pitch + j)]), expected,
                            expected * roundings)
                    << which << ": " << i << ", " << j;
              }
              for (Index j = columns; j < d_pitch; ++j) {
                ASSERT_EQ(d[static_cast<std::size_t>(i * d_pitch + j)], nobodys);
              }
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(Distances, AreRaisedToAnyPowerOnEveryIsa) {
  using A = TypeParam;
  std::vector<A> numbers{0,
                         1,
                         2,
                         A{1} / 3,
                         1e-30F,
                         1e30F,
                         std::numeric_limits<A>::min(),
                         std::numeric_limits<A>::denorm_min() * 5,
                         0.70710678F,
                         1.41421356F};
  for (std::uint64_t i = 0; i < 40; ++i) numbers.push_back(static_cast<A>(std::exp(20 * random_uniform(3, i) - 10)));
  for (const Isa isa : supported_isas()) {
    for (const A power : {A{0.1F}, A{0.5F}, A{1}, A{1.5F}, A{2}, A{3}, A{7.25F}}) {
      for (std::size_t count = 0; count <= numbers.size(); ++count) {
        std::vector<A> raised = numbers;
        distance_kernels<A>(isa).raise(raised.data(), static_cast<Index>(count), power);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          SCOPED_TRACE(std::string(name(isa)) + ": " + std::to_string(numbers[i]) + "^" + std::to_string(power));
          const long double whole = std::pow(static_cast<long double>(numbers[i]), static_cast<long double>(power));
          const auto expected = static_cast<A>(i < count ? whole : numbers[i]);
          const double exponent = numbers[i] > 0 ? std::abs(std::log2(static_cast<double>(numbers[i])) * power) : 0;
          if (std::isinf(expected)) {
            ASSERT_EQ(raised[i], expected);
          } else {
            const double off = static_cast<double>(expected) * (8 + 2 * exponent) * std::numeric_limits<A>::epsilon();
            ASSERT_NEAR(raised[i], expected, off + 2 * std::numeric_limits<A>::denorm_min());
          }
        }
      }
    }
  }
}

TYPED_TEST(Distances, HaveExponentialsOfProductsOnEveryIsaWhichAddUpThoseBefore) {
  using A = TypeParam;
  const auto number = [](std::uint64_t key, Index i) {
    return static_cast<A>(random_uniform(key, static_cast<std::uint64_t>(i)) - 0.5);
  };
  for (const Isa isa : supported_isas()) {
    for (Index rows = 0; rows <= group_points; ++rows) {
      for (const Index coordinates : {0, 1, 3, 17}) {
        for (const Index columns : {0, 1, 16, 37}) {
          for (const auto& [has_before, apart] :
               std::vector<std::pair<bool, double>>{{false, 1}, {true, 1}, {true, 120}, {true, 3000}}) {
            SCOPED_TRACE(std::string(name(isa)) + ", " + std::to_string(rows) + " points, " +
                         std::to_string(coordinates) + " coordinates, " + std::to_string(columns) +
                         " columns, rows apart by 2^" + std::to_string(apart));
            const Index pitch = columns + 3;
            std::vector<A> x, y, a, h, u, c, e;
            for (Index i = 0; i < group_points * coordinates; ++i) x.push_back(number(1, i));
            for (Index i = 0; i < panels_of(columns) * panel_points * coordinates; ++i) y.push_back(number(2, i));
            for (Index i = 0; i < rows; ++i) {
              a.push_back(i == 2 ? -std::numeric_limits<A>::infinity()
                                 : static_cast<A>(apart) * (number(3, i) - A{0.5}));
              u.push_back(number(4, i));
            }
            for (Index j = 0; j < columns; ++j) {
              h.push_back(j % 5 == 3 ? -std::numeric_limits<A>::infinity() : number(5, j));
              c.push_back(number(7, j));
            }
            for (Index i = 0; i < rows * pitch; ++i) e.push_back(number(8, i));
            const std::vector<A> c_before = c, e_before = e;
            std::vector<A> sums(static_cast<std::size_t>(rows));
            const SumsBefore<A> before = has_before ? SumsBefore<A>{u.data(), c.data()} : SumsBefore<A>{};
            point_exponentials<A>(isa)({x.data(), a.data(), coordinates, y.data(), h.data()},
                                       {e.data(), rows, columns, pitch}, before, sums.data());
            constexpr double epsilon = std::numeric_limits<A>::epsilon();
            constexpr double near = 64 * epsilon;
            const double of_exponents = (60 + 4 * apart) * epsilon;
            constexpr double least = std::numeric_limits<A>::min();
            std::vector<double> columns_have(c_before.begin(), c_before.end());
            for (Index i = 0; i < rows; ++i) {
              double sum = 0;
              for (Index j = 0; j < pitch; ++j) {
                const auto at = static_cast<std::size_t>(i * pitch + j);
                if (j >= columns) {
                  ASSERT_EQ(e[at], e_before[at]);
                  continue;
                }
                const auto column = static_cast<std::size_t>(j);
                double exponent = static_cast<double>(h[column]) + a[static_cast<std::size_t>(i)];
                for (Index k = 0; k < coordinates; ++k) {
                  exponent += static_cast<double>(x[static_cast<std::size_t>(k * group_points + i)]) *
                              y[static_cast<std::size_t>((j / panel_points * coordinates + k) * panel_points +
                                                         j % panel_points)];
                }
                ASSERT_NEAR(e[at], std::exp2(exponent), of_exponents * std::exp2(exponent) + least) << i << ", " << j;
                sum += std::exp2(exponent);
                if (has_before)
                  columns_have[column] += static_cast<double>(u[static_cast<std::size_t>(i)]) * e_before[at];
              }
              ASSERT_NEAR(sums[static_cast<std::size_t>(i)], sum,
                          of_exponents * sum + static_cast<double>(columns) * least);
            }
            for (std::size_t j = 0; j < c.size(); ++j) ASSERT_NEAR(c[j], columns_have[j], near);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace plait::simd
