#include "plait/simd/sweep/distance_kernels.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"

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
          for (const int which : {0, 1, 2}) {
            std::vector<A> d(static_cast<std::size_t>(rows * d_pitch), nobodys);
            const auto kernel = which == 0 ? kernels.squared : which == 1 ? kernels.euclidean : kernels.cityblock;
            kernel({x.data(), rows, coordinates, x_pitch}, y.data(), panels, {d.data(), rows, columns, d_pitch});
            for (Index i = 0; i < rows; ++i) {
              for (Index j = 0; j < columns; ++j) {
                long double sum = 0;
                for (Index k = 0; k < coordinates; ++k) {
                  const auto at =
                      static_cast<std::size_t>((j / panel_points * coordinates + k) * panel_points + j % panel_points);
                  const auto t = static_cast<long double>(x[static_cast<std::size_t>(i * x_pitch + k)]) - y[at];
                  sum += which == 2 ? std::abs(t) : t * t;
                }
                if (which == 1) sum = std::sqrt(sum);
                const auto expected = static_cast<double>(sum);
                const double roundings = static_cast<double>(coordinates + 3) * std::numeric_limits<A>::epsilon();
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

}  // namespace
}  // namespace plait::simd
