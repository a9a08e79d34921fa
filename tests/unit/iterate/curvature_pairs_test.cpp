#include "plait/iterate/curvature_pairs.hpp"

#include <array>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::iterate {
namespace {

using ::testing::HasSubstr;

constexpr std::array curvatures{1.0, 3.0, 10.0};

// Steps along the axes of ½ Σ curvature x², from which H is known exactly.
void add_axis(CurvaturePairs& pairs, std::size_t axis) {
  CurvaturePairs::Pair& pair = pairs.next();
  for (std::size_t i = 0; i < curvatures.size(); ++i) {
    pair.step[i] = i == axis ? 0.5 : 0;
    pair.change[i] = i == axis ? 0.5 * curvatures[i] : 0;
  }
  pair.curvature = dot(pair.step, pair.change);
  pairs.keep();
}

std::vector<double> applied(CurvaturePairs& pairs) {
  std::vector<double> vector{1, 1, 1};
  pairs.apply(vector, [](std::span<double>) {});
  return vector;
}

TEST(CurvaturePairs, InvertTheCurvatureAlongTheirSteps) {
  CurvaturePairs pairs(3, 3);
  EXPECT_EQ(applied(pairs), (std::vector<double>{1, 1, 1}));
  add_axis(pairs, 1);
  EXPECT_EQ(applied(pairs), (std::vector<double>{1, 1 / 3.0, 1}));
  add_axis(pairs, 2);
  EXPECT_EQ(applied(pairs), (std::vector<double>{1, 1 / 3.0, 0.1}));
}

TEST(CurvaturePairs, ForgetTheOldest) {
  CurvaturePairs pairs(2, 3);
  for (const std::size_t axis : {1U, 2U, 0U}) add_axis(pairs, axis);
  EXPECT_EQ(pairs.count(), 2U);
  EXPECT_EQ(applied(pairs), (std::vector<double>{1, 1, 0.1}));
  EXPECT_EQ(pairs.newest().step[0], 0.5);
}

TEST(CurvaturePairs, GoOnFromWhatWasSaved) {
  CurvaturePairs pairs(2, 3), others(2, 3), shorter(2, 2), fewer(1, 3);
  for (const std::size_t axis : {1U, 2U}) add_axis(pairs, axis);
  Checkpoint checkpoint;
  pairs.save(checkpoint);
  add_axis(others, 0);
  others.resume(checkpoint);
  EXPECT_EQ(others.count(), 2U);
  EXPECT_EQ(applied(others), applied(pairs));
  EXPECT_THAT(test::message_of<ArgumentError>([&] { fewer.resume(checkpoint); }),
              HasSubstr("expected up to 1 times 6"));
  checkpoint.shared["pairs"].pop_back();
  EXPECT_THAT(test::message_of<ArgumentError>([&] { shorter.resume(checkpoint); }), HasSubstr("has 11 numbers"));
}

}  // namespace
}  // namespace plait::iterate
