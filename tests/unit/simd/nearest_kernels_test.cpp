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
