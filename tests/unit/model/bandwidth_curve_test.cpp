#include "plait/model/bandwidth_curve.hpp"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace {

using plait::Index;
using plait::model::BandwidthCurve;
using Points = std::vector<BandwidthCurve::Point>;

TEST(BandwidthCurves, know_the_time_of_messages_between_measured_sizes_and_beyond) {
  const BandwidthCurve curve(Points{{100, 10}, {200, 16}, {800, 32}});  // 10, 12.5 and 25 s
  EXPECT_DOUBLE_EQ(curve.seconds(100), 10);
  EXPECT_DOUBLE_EQ(curve.seconds(150), 11.25);
  EXPECT_DOUBLE_EQ(curve.seconds(500), 18.75);
  EXPECT_DOUBLE_EQ(curve.bytes_per_second(800), 32);
  EXPECT_DOUBLE_EQ(curve.seconds(3200), 100) << "the rate of the last size";
  EXPECT_DOUBLE_EQ(curve.seconds(1), 10) << "no message is cheaper than the least that is known";
  EXPECT_DOUBLE_EQ(curve.seconds(0), 10);
  EXPECT_DOUBLE_EQ(curve.bytes_per_second(0), 0);
}

TEST(BandwidthCurves, know_from_which_size_on_messages_are_nearly_as_fast_as_can_be) {
  const BandwidthCurve curve(Points{{1, 10}, {10, 89}, {100, 91}, {1000, 100}, {10000, 80}});
  EXPECT_EQ(curve.threshold_bytes(), 100);
  EXPECT_EQ(curve.threshold_bytes(1), 1000);
  EXPECT_EQ(curve.threshold_bytes(0.1), 1);
}

TEST(BandwidthCurves, refuse_points_that_are_none) {
  const auto expect_refused = [](const Points& points, const char* why) {
    EXPECT_THAT(plait::test::message_of<plait::ArgumentError>([&] { const BandwidthCurve curve(points); }),
                ::testing::HasSubstr(why));
  };
  expect_refused({}, "has no point");
  expect_refused({{0, 1}}, "messages of 0 bytes after those of 0");
  expect_refused({{5, 1}, {5, 1}}, "messages of 5 bytes after those of 5");
  expect_refused({{5, 0}}, "has 0 bytes/s for messages of 5 bytes");
  expect_refused({{5, std::numeric_limits<double>::infinity()}}, "has inf bytes/s");
  expect_refused({{5, std::numeric_limits<double>::quiet_NaN()}}, "expected a positive number");
}

}  // namespace
