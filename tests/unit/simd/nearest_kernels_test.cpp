#include "plait/simd/nearest/nearest_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"

namespace plait::simd {
namespace {

template <class T>
class Nearest : public ::testing::Test {};
using Numbers = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Nearest, Numbers);

// Whole numbers, whose distances are exact, and of which many are at one distance.
template <class T>
std::vector<T> whole_numbers(Index count, std::uint64_t seed, std::uint64_t below) {
  std::vector<T> numbers;
  for (Index i = 0; i < count; ++i)
    numbers.push_back(static_cast<T>(random_bits(seed, static_cast<std::uint64_t>(i)) % below));
  return numbers;
}

TYPED_TEST(Nearest, CentresAreTheFirstOfThoseAtTheLeastDistanceOnEveryIsa) {
  using T = TypeParam;
  for (const Isa isa : supported_isas()) {
    for (const Index dimension : {0, 1, 2, 7, 33}) {
      for (Index count = 1; count <= 11; ++count) {
        SCOPED_TRACE(std::string(name(isa)) + ", " + std::to_string(dimension) + " coordinates, " +
                     std::to_string(count) + " centres");
        const Index pitch = dimension + 3;
        const auto panel = whole_numbers<T>(nearest_points * dimension, 1, 4);
        const auto centres = whole_numbers<T>(count * pitch, 2, 4);
        std::array<T, nearest_points> least, place, second, least_alone, place_alone;
        const auto kernels = nearest_kernels<T>(isa);
        kernels.nearest_two(panel.data(), {centres.data(), count, dimension, pitch}, least.data(), place.data(),
                            second.data());
        kernels.nearest(panel.data(), {centres.data(), count, dimension, pitch}, least_alone.data(),
                        place_alone.data());
        EXPECT_EQ(least, least_alone);
        EXPECT_EQ(place, place_alone);
        for (Index p = 0; p < nearest_points; ++p) {
          std::vector<T> squared;
          for (Index j = 0; j < count; ++j) {
            T sum = 0;
            for (Index c = 0; c < dimension; ++c) {
              const T t = panel[at(c * nearest_points + p)] - centres[at(j * pitch + c)];
              sum += t * t;
            }
            squared.push_back(sum);
          }
          const auto first = std::ranges::min_element(squared);
          ASSERT_EQ(place[at(p)], static_cast<T>(first - squared.begin()));
          ASSERT_EQ(least[at(p)], *first);
          squared.erase(first);
          ASSERT_EQ(second[at(p)],
                    squared.empty() ? std::numeric_limits<T>::infinity() : *std::ranges::min_element(squared));
        }
      }
    }
  }
}

TYPED_TEST(Nearest, DistancesHaveTheSameBitsInEveryKernelAndPlace) {
  using T = TypeParam;
  const Index dimension = 13;
  const Index points = nearest_points;
  std::vector<T> x, centres;
  for (Index i = 0; i < points * dimension; ++i)
    x.push_back(static_cast<T>(random_uniform(1, static_cast<std::uint64_t>(i))));
  for (Index i = 0; i < 9 * dimension; ++i)
    centres.push_back(static_cast<T>(random_uniform(2, static_cast<std::uint64_t>(i))));
  std::vector<T> panel(x.size());
  for (Index p = 0; p < points; ++p) {
    for (Index c = 0; c < dimension; ++c) panel[at(c * nearest_points + p)] = x[at(p * dimension + c)];
  }
  for (const Isa isa : supported_isas()) {
    SCOPED_TRACE(name(isa));
    const auto kernels = nearest_kernels<T>(isa);
    for (Index j = 0; j < 9; ++j) {
      std::array<T, nearest_points> least, place;
      kernels.nearest(panel.data(), {centres.data() + j * dimension, 1, dimension, dimension}, least.data(),
                      place.data());
      for (Index count = 1; count <= 6; ++count) {
        std::vector<Index> rows;
        for (Index i = 0; i < count; ++i) rows.push_back((5 * i + j) % points);
        const std::vector<std::int32_t> of(at(count), static_cast<std::int32_t>(j));
        std::vector<T> d(at(count + 1), T(-7));
        kernels.own({x.data(), points, dimension, dimension}, rows.data(), count,
                    {centres.data(), 9, dimension, dimension}, of.data(), d.data());
        for (Index i = 0; i < count; ++i) ASSERT_EQ(d[at(i)], least[at(rows[at(i)])]);
        ASSERT_EQ(d[at(count)], T(-7));
      }
    }
  }
}

// Far from 0 beside their spread; the first few are centres. A quarter lies where two centres are.
template <class T>
std::vector<T> points_far_off(Index count, Index dimension) {
  std::vector<T> x;
  for (Index i = 0; i < count * dimension; ++i) {
    const double size = i / dimension % 4 == 3 ? 0x1p-9 : 1;
    x.push_back(static_cast<T>(1000 + size * random_uniform(4, static_cast<std::uint64_t>(i))));
  }
  return x;
}

TYPED_TEST(Nearest, BoundsInSinglePrecisionEncloseSquaredDistancesOnEveryIsa) {
  using T = TypeParam;
  constexpr Index points = nearest_points;
  constexpr double scale = 0.125;
  for (const Isa isa : supported_isas()) {
    for (const Index dimension : {1, 2, 3, 4, 5, 8, 11, 40}) {
      for (const Index count : {1, 2, 3, 5, 9, 24}) {
        SCOPED_TRACE(std::string(name(isa)) + ", " + std::to_string(dimension) + " coordinates, " +
                     std::to_string(count) + " centres");
        const auto x = points_far_off<T>(points, dimension);
        const std::vector<T> origin(at(dimension), T(1000.25));
        std::vector<std::int32_t> rows;
        for (Index p = 0; p < points; ++p) rows.push_back(static_cast<std::int32_t>((7 * p + 5) % points));
        std::vector<float> panel(at(points * dimension));
        nearest_kernels<T>(isa).narrow({x.data(), points, dimension, dimension}, rows.data(), points, origin.data(),
                                       T(scale), panel.data());
        const float error = NarrowCentres::error_of<T>(dimension);
        std::vector<float> centres, half, slack;
        for (Index j = 0; j < count; ++j) {
          double square = 0;
          for (Index c = 0; c < dimension; ++c) {
            const double of_centre = (double{x[at(j * dimension + c)]} - 1000.25) * scale;
            centres.push_back(static_cast<float>(of_centre));
            square += of_centre * of_centre;
          }
          half.push_back(static_cast<float>((0.5 - double{error}) * square));
          slack.push_back(static_cast<float>(4 * double{error} * square));
        }
        std::array<float, points> upper, lower;
        std::array<std::int32_t, points> place;
        const std::uint32_t unsure = nearest_bounds_kernel(isa)(
            panel.data(), {{centres.data(), count, dimension, dimension}, half.data(), slack.data(), error},
            upper.data(), lower.data(), place.data());
        for (Index p = 0; p < points; ++p) {
          std::vector<double> squared;
          for (Index j = 0; j < count; ++j) {
            double sum = 0;
            for (Index c = 0; c < dimension; ++c) {
              const double t = double{x[at(rows[at(p)] * dimension + c)]} - double{x[at(j * dimension + c)]};
              sum += t * t * scale * scale;
            }
            squared.push_back(sum);
          }
          const double room = 20 * double{error} * scale * scale * static_cast<double>(dimension);
          const Index own = place[at(p)];
          ASSERT_LT(own, count);
          ASSERT_LE(squared[at(own)], double{upper[at(p)]});
          ASSERT_NEAR(squared[at(own)], double{upper[at(p)]}, room);
          squared.erase(squared.begin() + own);
          if (count > 1) {
            ASSERT_GE(*std::ranges::min_element(squared), double{lower[at(p)]});
            ASSERT_NEAR(*std::ranges::min_element(squared), double{lower[at(p)]}, room);
          }
          ASSERT_EQ((unsure >> p & 1U) != 0, !(upper[at(p)] < lower[at(p)]));
        }
      }
    }
  }
}

TEST(MovedBounds, AreSureOnlyWhereRealNumbersAreOnEveryIsa) {
  for (const Isa isa : supported_isas()) {
    for (Index count = 0; count <= 70; ++count) {
      SCOPED_TRACE(std::string(name(isa)) + ", " + std::to_string(count));
      std::vector<float> upper, lower, moved{0.5F, 0, 0.25F};
      std::vector<std::int32_t> of;
      for (Index i = 0; i < count; ++i) {
        const auto place = static_cast<std::uint64_t>(i);
        of.push_back(static_cast<std::int32_t>(random_bits(1, place) % 3));
        upper.push_back(static_cast<float>(random_uniform(2, place)));
        lower.push_back(static_cast<float>(random_uniform(3, place) * 2));
        if (i % 7 == 0) lower.back() = upper.back() + moved[at(of.back())] + 0.125F;  // rounding decides
      }
      std::vector<std::int32_t> doubtful(at(count + 16), -7);
      const Index found = doubtful_kernel(isa)(
          {upper.data(), lower.data(), of.data(), moved.data(), 0.125F, 0x1p-20F, 0}, count, doubtful.data());
      std::vector<std::int32_t> expected;
      for (Index i = 0; i < count; ++i) {
        const double gap = double{lower[at(i)]} - 0.125 - upper[at(i)] - moved[at(of[at(i)])];
        if (gap < 1e-5) expected.push_back(static_cast<std::int32_t>(i));
      }
      ASSERT_EQ(std::vector<std::int32_t>(doubtful.begin(), doubtful.begin() + found), expected);
    }
  }
}

}  // namespace
}  // namespace plait::simd
