#include "plait/model/bandwidth_curve.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"

namespace plait::model {

namespace {

double message_seconds(const BandwidthCurve::Point& point) {
  return static_cast<double>(point.message_bytes) / point.bytes_per_second;
}

}  // namespace

BandwidthCurve::BandwidthCurve(std::vector<Point> points) : points_(std::move(points)) {
  if (points_.empty()) throw ArgumentError("a bandwidth curve has no point, expected at least one");
  Index last = 0;
  for (const Point& point : points_) {
    if (point.message_bytes <= last) {
      throw ArgumentError(
          fmt::format("a bandwidth curve has messages of {} bytes after those of {}, expected positive "
                      "sizes that ascend",
                      point.message_bytes, last));
    }
    if (!std::isfinite(point.bytes_per_second) || point.bytes_per_second <= 0) {
      throw ArgumentError(
          fmt::format("a bandwidth curve has {} bytes/s for messages of {} bytes, expected a positive "
                      "number",
                      point.bytes_per_second, point.message_bytes));
    }
    last = point.message_bytes;
  }
}

double BandwidthCurve::seconds(Index message_bytes) const {
  PLAIT_ASSERT(message_bytes >= 0, "a message has no negative size");
  const auto above = std::ranges::upper_bound(points_, message_bytes, {}, &Point::message_bytes);
  if (above == points_.begin()) return message_seconds(points_.front());
  if (above == points_.end()) return static_cast<double>(message_bytes) / points_.back().bytes_per_second;
  const Point& low = *(above - 1);
  const double share = static_cast<double>(message_bytes - low.message_bytes) /
                       static_cast<double>(above->message_bytes - low.message_bytes);
  return message_seconds(low) + share * (message_seconds(*above) - message_seconds(low));
}

double BandwidthCurve::bytes_per_second(Index message_bytes) const {
  return static_cast<double>(message_bytes) / seconds(message_bytes);
}

Index BandwidthCurve::threshold_bytes(double share) const {
  const double highest = std::ranges::max(points_, {}, &Point::bytes_per_second).bytes_per_second;
  const auto reaches = [&](const Point& point) { return point.bytes_per_second >= share * highest; };
  return std::ranges::find_if(points_, reaches)->message_bytes;
}

}  // namespace plait::model
