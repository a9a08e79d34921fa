#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::model {

/// How many bytes a second a stream of messages carries, by the size of the messages: the f_BW of the literature.
///
/// Known at some sizes. Between two of them the time of a message grows linearly with its size; below the first size
/// no message takes less time than one of that size; above the last the rate stays as it is.
///
/// Source: Huang and Chow, "Overlapping Communications with Other Communications and its Application to Distributed
/// Dense Matrix Computations", section III.A.
class BandwidthCurve {
 public:
  struct Point {
    Index message_bytes = 0;
    double bytes_per_second = 0;
    friend bool operator==(const Point&, const Point&) = default;
  };

  /// \throws ArgumentError  unless there is a point, sizes are positive and ascend, and rates are positive and finite
  explicit BandwidthCurve(std::vector<Point> points);

  [[nodiscard]] std::span<const Point> points() const noexcept { return points_; }

  /// From a message of this size to the next one of the stream.
  /// \pre  message_bytes >= 0
  [[nodiscard]] double seconds(Index message_bytes) const;

  /// f_BW(message_bytes); 0 for no bytes.
  [[nodiscard]] double bytes_per_second(Index message_bytes) const;

  /// n_t: the least size that is known to reach this share of the highest rate.
  [[nodiscard]] Index threshold_bytes(double share = 0.9) const;

  friend bool operator==(const BandwidthCurve&, const BandwidthCurve&) = default;

 private:
  std::vector<Point> points_;
};

}  // namespace plait::model
